// What the checks share: the browser, pages that tell their state, and the count of what passed.

import { createRequire } from "node:module";
import { mkdirSync } from "node:fs";
import { join, resolve } from "node:path";

const ARGS = [
  "--no-sandbox",
  "--disable-quic",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
  "--enable-unsafe-swiftshader",
];
// Part of the names of checks: only those are run.
const ONLY = process.env.WALK_CHECK ?? "";
const PATIENCE_MS = Number(process.env.WALK_PATIENCE_MS ?? 45_000);

export class Stage {
  constructor({ server, playwright, chromium, pictures }) {
    this.server = server;
    this.chromium = createRequire(import.meta.url)(resolve(playwright)).chromium;
    this.executablePath = chromium;
    this.pictures = pictures;
    this.passed = 0;
    this.failed = 0;
    this.foreign = new Set();
    mkdirSync(pictures, { recursive: true });
  }

  launch(extra = []) {
    return this.chromium.launch({ executablePath: this.executablePath, args: [...ARGS, ...extra] });
  }

  async start() {
    this.browser = await this.launch();
  }

  // Runs one check; whatever it throws is its failure.
  async check(name, run) {
    if (!name.includes(ONLY)) return;
    const start = Date.now();
    const secs = () => `${((Date.now() - start) / 1000).toFixed(1).padStart(5)} s`;
    try {
      await run();
      this.passed += 1;
      console.log(`ok    ${secs()}  ${name}`);
    } catch (error) {
      this.failed += 1;
      console.log(`FAIL  ${secs()}  ${name}\n      ${String(error.message ?? error).split("\n").slice(0, 6).join("\n      ")}`);
    }
  }

  // A fresh visitor. `errors` gathers what a page must never say.
  async visitor(options = {}) {
    const context = await (options.browser ?? this.browser).newContext({
      viewport: { width: 1440, height: 900 },
      locale: "zh-CN",
      ...options.context,
    });
    const page = await context.newPage();
    page.errors = [];
    page.on("pageerror", (error) => page.errors.push(String(error)));
    page.on("request", (request) => {
      const url = request.url();
      if (!url.startsWith(this.server.origin) && !/^(data|blob):/.test(url)) this.foreign.add(url);
    });
    return { context, page };
  }

  url(route = "") {
    return `${this.server.root}${route && `#${route}`}`;
  }

  // A fresh start of the program: from another document, since a new fragment alone loads nothing.
  async open(page, route = "") {
    if (page.url().startsWith(this.server.root)) await page.goto("about:blank");
    await page.goto(this.url(route));
    return this.until(page, (state) => state !== null, "the program is running");
  }

  // Follows a link inside the running program.
  async go(page, route) {
    await page.evaluate((hash) => { location.hash = hash; }, route);
  }

  state(page) {
    return page.evaluate(() => window.vramlab?.state?.() ?? null);
  }

  // Waits until the state is as wanted, and returns it.
  async until(page, isWanted, what) {
    const end = Date.now() + PATIENCE_MS;
    let state = null;
    while (Date.now() < end) {
      state = await this.state(page).catch(() => null);
      if (isWanted(state)) return state;
      await page.waitForTimeout(30);
    }
    throw new Error(`waited in vain until ${what}; state: ${JSON.stringify(state)?.slice(0, 700)}`);
  }

  // The words instead of the program.
  async words(page, kind) {
    await page.locator(`#words[data-kind="${kind}"]`).waitFor({ state: "visible", timeout: PATIENCE_MS });
    const text = await page.locator("#words").innerText();
    assert(/[\u4e00-\u9fff]/.test(text) && /[a-z]{4,} [a-z]{2,}/.test(text), `both languages: ${text}`);
    assert((await page.locator('#words a[href="text/index.html"]').count()) === 1, "a link to the text version");
    return text;
  }

  // Moves the focus with Tab until the widget's words match.
  async focus(page, wanted, most = 160) {
    let said = "";
    for (let n = 0; n < most; n += 1) {
      const { frames } = await this.state(page);
      await page.keyboard.press("Tab");
      const { focus } = await this.until(page, (state) => state.frames >= frames + 2, "the focus has moved");
      said = focus.said;
      if (wanted.test(said)) return focus;
    }
    throw new Error(`no widget ${wanted} among ${most}; the last was "${said}"`);
  }

  // Clicks into the focused widget at a share of its width.
  async clickInside(page, { rect: [left, top, right, bottom] }, share = 0.5) {
    await page.mouse.click(left + (right - left) * share, (top + bottom) / 2);
  }

  async drop(page, files) {
    await page.evaluate((files) => {
      const data = new DataTransfer();
      for (const { name, text, base64, mib } of files) {
        const chunk = new Uint8Array(1 << 20);
        const bytes = base64 ? Uint8Array.from(atob(base64), (c) => c.charCodeAt(0)) : text;
        data.items.add(new File(mib ? Array(mib).fill(chunk) : [bytes], name));
      }
      const canvas = document.getElementById("canvas");
      for (const type of ["dragover", "drop"]) {
        canvas.dispatchEvent(new DragEvent(type, { dataTransfer: data, bubbles: true, cancelable: true }));
      }
    }, files);
  }

  picture(page, name) {
    return page.screenshot({ path: join(this.pictures, `${name}.png`) });
  }
}

export function assert(condition, what) {
  if (!condition) throw new Error(what);
}

export function equal(found, wanted, what) {
  const [a, b] = [JSON.stringify(found), JSON.stringify(wanted)];
  assert(a === b, `${what}: ${a}, not ${b}`);
}
