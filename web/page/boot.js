// Starts the program on the canvas, and says in words what went wrong when it cannot. Nothing here knows a lesson.

const words = document.getElementById("words");
const said = document.getElementById("said");
const buttons = document.getElementById("buttons");
let canvas = document.getElementById("canvas");
const { module: moduleUrl, wasm: wasmUrl, late: lateUrl, build } = canvas.dataset;
const RELOADED = "vramlab-reloaded";
const WHOLE = "vramlab-whole";

let program = null;
let page = null;
// What the first module exports; the late one is made of it.
let exports = null;
let isWhole = false;
let lost = [];
let isBroken = false;

const WORDS = {
  webgl: [
    "这个浏览器没有给页面 WebGL 2，图画不出来。可能是显卡驱动被停用，或者浏览器太旧。换一个浏览器，或者读文字版：每一章的内容都在。",
    "This browser gives the page no WebGL 2, so it cannot draw. The graphics driver may be disabled, or the browser old. Try another browser, or read the text version: every chapter is there.",
  ],
  wasm: [
    "这个浏览器不能运行 WebAssembly，程序跑不起来。换一个浏览器，或者读文字版。",
    "This browser cannot run WebAssembly. Try another browser, or read the text version.",
  ],
  csp: [
    "这个网络的安全策略（CSP）不许页面运行 WebAssembly。请管理员放行 'wasm-unsafe-eval'，或者读文字版。",
    "A security policy (CSP) on this network forbids WebAssembly. Ask its administrator to allow 'wasm-unsafe-eval', or read the text version.",
  ],
  mime: [
    "服务器发来的程序文件类型不对：应是 application/wasm，来的是下面这种。",
    "The server sent the program as the wrong type: it should be application/wasm and came as the one below.",
  ],
  network: [
    "程序文件没有取到。网络通了再试；打开过一次之后，离线也能用。",
    "The program could not be fetched. Try again when the network is back; after one visit it works offline.",
  ],
  stale: [
    "缓存里的文件有新有旧，对不上，重新载入一次也没好。清空这个网站的缓存再试。",
    "The cache holds files of two versions, and one reload did not help. Clear this site's cache and try again.",
  ],
  panic: [
    "程序出错停下了。学习进度已经保存。把下面的内容发给作者，然后重新载入。",
    "The program stopped on an error. Your progress is saved. Send the text below to the authors, then reload.",
  ],
  lost: [
    "显卡几次收回了画布，暂时画不了。关掉别的占用显卡的页面，再重新载入。",
    "The graphics card took the canvas away several times. Close other pages that use it, then reload.",
  ],
  slow: [
    "还在下载。第一次打开大约要下载 2 MB，之后就快了。",
    "Still downloading. The first visit fetches about 2 MB; later ones are quick.",
  ],
};

function button(zh, en, action) {
  const it = document.createElement("button");
  it.textContent = document.documentElement.lang.startsWith("zh") ? zh : en;
  it.addEventListener("click", action);
  buttons.append(it);
}

function say(kind, detail = "") {
  const parts = WORDS[kind].map((text, idx) => {
    const p = document.createElement("p");
    p.lang = idx === 0 ? "zh-CN" : "en";
    p.textContent = text;
    return p;
  });
  if (!navigator.language.startsWith("zh")) parts.reverse();
  if (detail) {
    const pre = document.createElement("pre");
    pre.textContent = detail;
    parts.push(pre);
  }
  said.replaceChildren(...parts);
  words.dataset.kind = kind;
  words.hidden = false;
  if (kind === "slow") return;
  isBroken = true;
  canvas.hidden = true;
  buttons.replaceChildren();
  if (detail) button("复制", "Copy", () => navigator.clipboard?.writeText(`VRAM Lab ${build}\n${detail}`));
  button("重新载入", "Reload", () => location.reload());
}

// A page of one version with files of another: the caches go, and the page loads again, once.
async function reloadOnce(detail) {
  let isSecond = true;
  try {
    isSecond = sessionStorage.getItem(RELOADED) === build;
    sessionStorage.setItem(RELOADED, build);
  } catch { /* without a store there is no telling, so there is no reload */ }
  if (isSecond) return say("stale", detail);
  try {
    const keys = await caches.keys();
    await Promise.all(keys.filter((key) => key.startsWith("vramlab-")).map((key) => caches.delete(key)));
    const workers = await navigator.serviceWorker?.getRegistrations() ?? [];
    await Promise.all(workers.filter((it) => location.href.startsWith(it.scope)).map((it) => it.unregister()));
  } catch { /* no caches here */ }
  location.reload();
}

function hasWebGl() {
  const gl = document.createElement("canvas").getContext("webgl2");
  gl?.getExtension("WEBGL_lose_context")?.loseContext();
  return Boolean(gl);
}

async function load() {
  let response;
  try {
    response = await fetch(wasmUrl);
  } catch (error) {
    return say("network", String(error));
  }
  if (response.status === 404) return reloadOnce(`404 ${wasmUrl}`);
  if (!response.ok) return say("network", `HTTP ${response.status} ${wasmUrl}`);
  const type = response.headers.get("content-type") ?? "";
  if (type.startsWith("text/")) return say("mime", `${type}\n${wasmUrl}`);
  try {
    const module = await import(new URL(moduleUrl, document.baseURI));
    // Any other type is compiled from its bytes: slower, and it works.
    const source = type.startsWith("application/wasm") ? response : await response.arrayBuffer();
    exports = await module.default({ module_or_path: source });
    return module;
  } catch (error) {
    if (error instanceof WebAssembly.CompileError && /unsafe-eval|Content Security/i.test(error.message)) {
      return say("csp", String(error));
    }
    return reloadOnce(String(error));
  }
}

// Fetches what the first page does without, and joins it to the program: the same memory, the same table of functions.
// Without a network it tries again until there is one.
async function join() {
  for (let pause = 1_000; !isBroken; pause = Math.min(2 * pause, 30_000)) {
    let why;
    try {
      const response = await fetch(lateUrl, { priority: "low" });
      if (response.status === 404) return reloadOnce(`404 ${lateUrl}`);
      if (response.ok) {
        const bytes = await response.arrayBuffer();
        try {
          await WebAssembly.instantiate(bytes, { first: exports });
        } catch (error) {
          return reloadOnce(String(error));
        }
        isWhole = true;
        program.rest();
        return page?.heard_of_rest();
      }
      why = `HTTP ${response.status} ${lateUrl}`;
    } catch (error) {
      why = String(error);
    }
    program.rest(why);
    page?.heard_of_rest();
    await Promise.race([
      new Promise((done) => setTimeout(done, pause)),
      new Promise((done) => addEventListener("online", done, { once: true })),
    ]);
  }
}

// The program went where it cannot go yet, which it should not: it loads again, and waits for its other part first.
async function reloadWhole() {
  isBroken = true;
  try {
    sessionStorage.setItem(WHOLE, build);
    await fetch(lateUrl);
    location.reload();
  } catch (error) {
    say("network", String(error));
  }
}

function wantsWhole() {
  try {
    return sessionStorage.getItem(WHOLE) === build;
  } catch {
    return false;
  }
}

async function start() {
  watch(canvas);
  try {
    page = await program.Page.start(canvas, build);
    words.hidden = true;
  } catch (error) {
    if (error instanceof WebAssembly.RuntimeError && !isWhole) return reloadWhole();
    if (!isBroken) say("webgl", String(error));
  }
}

// The card may take the canvas away (driver update, sleep, too many pages): the program starts again on a new one, at the
// same address and with the same progress.
function watch(canvas) {
  canvas.addEventListener("webglcontextlost", (event) => {
    event.preventDefault();
    if (!page || isBroken) return;
    lost = [...lost.filter((at) => performance.now() - at < 60_000), performance.now()];
    try { page.stop(); page.free(); } catch { /* it is gone anyway */ }
    page = null;
    if (lost.length > 3) return say("lost");
    setTimeout(restart, 300 * lost.length);
  });
}

function restart() {
  const fresh = canvas.cloneNode();
  canvas.replaceWith(fresh);
  canvas = fresh;
  return start();
}

addEventListener("vramlab-panic", (event) => say("panic", event.detail));
addEventListener("error", (event) => {
  if (!(event.error instanceof WebAssembly.RuntimeError) || isBroken) return;
  if (!isWhole) return reloadWhole();
  say("panic", String(event.error.stack ?? event.error));
});
addEventListener("pagehide", () => page?.save());
addEventListener("visibilitychange", () => { if (document.hidden) page?.save(); });

// What is on screen, in words and numbers: see `App::spoken`.
window.vramlab = {
  build,
  isWhole: () => isWhole,
  state: () => (page ? JSON.parse(page.state()) : null),
  fault: () => page.fault(),
};

if (typeof WebAssembly !== "object") {
  say("wasm");
} else if (!hasWebGl()) {
  say("webgl");
} else {
  const timer = setTimeout(() => { if (!page && !isBroken) say("slow"); }, 8_000);
  program = await load();
  const joined = program && join();
  if (wantsWhole()) await joined;
  if (program) await start();
  clearTimeout(timer);
  if (page) {
    try { sessionStorage.removeItem(RELOADED); } catch { /* nothing was kept */ }
    await joined;
    // Without it (plain http, private windows) everything works but being offline.
    navigator.serviceWorker?.register("sw.js").catch(() => {});
  }
}
