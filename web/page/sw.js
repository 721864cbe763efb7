// Offline after the first visit: every file of one build, kept together under the build's name. Pages come from the
// network first, so that a new build is seen; everything else carries its version in its address and never changes.

const CACHE = "vramlab-{{build}}";
const FILES = {{files}};

self.addEventListener("install", (event) => {
  event.waitUntil((async () => {
    const cache = await caches.open(CACHE);
    await cache.addAll(FILES.map((file) => (file.endsWith(".html") ? new Request(file, { cache: "reload" }) : file)));
    await self.skipWaiting();
  })());
});

self.addEventListener("activate", (event) => {
  event.waitUntil((async () => {
    // The build before this one stays for tabs that still run it.
    const old = (await caches.keys()).filter((key) => key.startsWith("vramlab-") && key !== CACHE);
    await Promise.all(old.slice(0, -1).map((key) => caches.delete(key)));
    await self.clients.claim();
  })());
});

async function kept(request, options) {
  const own = await caches.open(CACHE);
  return (await own.match(request, options)) ?? caches.match(request, options);
}

async function fromNetwork(request) {
  const late = new Promise((_, refuse) => setTimeout(() => refuse(new Error("late")), 5_000));
  try {
    return await Promise.race([fetch(request), late]);
  } catch (error) {
    const url = new URL(request.url);
    const name = url.pathname.endsWith("/") ? new URL("index.html", url) : url;
    const copy = await kept(name, { ignoreSearch: true });
    if (copy) return copy;
    throw error;
  }
}

self.addEventListener("fetch", (event) => {
  const { request } = event;
  const url = new URL(request.url);
  if (request.method !== "GET" || url.origin !== self.location.origin) return;
  if (request.mode === "navigate") {
    event.respondWith(fromNetwork(request));
  } else {
    event.respondWith(kept(request).then((copy) => copy ?? fetch(request)));
  }
});
