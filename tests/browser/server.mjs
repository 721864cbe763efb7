// A static server on loopback. The site lies in a sub-folder, which proves that its paths are relative. Faults can be
// switched on: no network, a wrong type, a file that is gone.

import { createServer } from "node:http";
import { readFile } from "node:fs/promises";
import { extname, join, normalize } from "node:path";

const TYPES = {
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript; charset=utf-8",
  ".css": "text/css; charset=utf-8",
  ".svg": "image/svg+xml",
  ".wasm": "application/wasm",
};

// As strict as a school's proxy and as `vramlab serve`.
const POLICY =
  "default-src 'self'; script-src 'self' 'wasm-unsafe-eval'; style-src 'self' 'unsafe-inline'; " +
  "img-src 'self' data: blob:; worker-src 'self'; object-src 'none'; base-uri 'none'";

export const FOLDER = "/a school/unit 2/";

export async function serve(dist) {
  // What matches `held` is answered when `release` is called.
  const faults = { isDown: false, wasmType: null, missing: null, held: null, policy: POLICY };
  const waiting = [];
  const release = () => {
    faults.held = null;
    waiting.splice(0).forEach((go) => go());
  };
  const asked = [];
  const server = createServer(async (request, response) => {
    if (faults.isDown) return request.socket.destroy();
    const path = decodeURIComponent(new URL(request.url, "http://here").pathname);
    asked.push(path);
    const inside = path.startsWith(FOLDER) ? normalize(path.slice(FOLDER.length) || "index.html") : "..";
    if (faults.held?.test(path)) await new Promise((go) => waiting.push(go));
    if (inside.startsWith("..") || faults.missing?.test(path)) return response.writeHead(404).end();
    try {
      const bytes = await readFile(join(dist, inside));
      let type = TYPES[extname(inside)] ?? "application/octet-stream";
      if (extname(inside) === ".wasm" && faults.wasmType) type = faults.wasmType;
      const headers = { "content-type": type, "content-security-policy": faults.policy, "cache-control": "no-cache" };
      response.writeHead(200, headers).end(bytes);
    } catch {
      response.writeHead(404).end();
    }
  });
  await new Promise((done) => server.listen(0, "127.0.0.1", done));
  const origin = `http://127.0.0.1:${server.address().port}`;
  return { origin, root: origin + encodeURI(FOLDER), faults, asked, release, close: () => server.close() };
}
