// What goes wrong in browsers: the cases B1 to B10, and files that should not be opened.
//
// Two have no check here. B5, memory that cannot grow: what is read is bounded before it is read (B4 here, the budgets of
// packs and traces in their crates), and a trap that comes all the same is told as B6 is; no browser lets a test refuse
// memory. B7, a tab that was hidden for an hour: a replay shows at most one point a frame, whatever the clock says, which
// is a test of the shell; browsers under test never throttle.

import { assert, equal } from "./stage.mjs";
import { CHAPTER } from "./lessons.mjs";

const TORN = Buffer.from("PK\x03\x04 and then nothing like a zip").toString("base64");
const BAD = 'schema = 1\ntitle.en = "Bad"\n\n[[step]]\nid = "a"\nkind = "visualiser"\n';
const NEWER = 'schema = 9\ntitle.en = "Newer"\n';

export async function faults(stage) {
  const { server } = stage;
  const { context, page } = await stage.visitor({ context: { locale: "en-GB" } });

  const refused = [
    [{ name: "torn.zip", base64: TORN }, /damaged/],
    [{ name: "newer.toml", text: NEWER }, /version|schema/],
  ];
  for (const [file, words] of refused) {
    await stage.check(`a bad pack dropped on the page is refused with its error: ${file.name}`, async () => {
      await stage.open(page, `/ch/${CHAPTER}`);
      await stage.drop(page, [file]);
      const state = await stage.until(page, (state) => state.notes.length > 0, "a note");
      assert(state.notes.join().includes(file.name) && words.test(state.notes.join()), state.notes.join());
      equal(state.route, `/ch/${CHAPTER}`, "the reader stays");
    });
  }
  await stage.check("a pack with a bad step opens and shows where it is bad", async () => {
    await stage.drop(page, [{ name: "bad.toml", text: BAD }]);
    const state = await stage.until(page, (state) => state.route === "/ch/bad", "the chapter");
    assert(/bad\.toml:6/.test(state.problems.join()) && /visualizer/.test(state.problems.join()), state.problems.join());
    await stage.picture(page, "bad-pack-en-light-1440");
  });
  await stage.check("a file from the dialog that is nothing we know is refused by name", async () => {
    await stage.open(page, "/");
    await page.locator("canvas").focus();
    const chooser = page.waitForEvent("filechooser");
    // An answer of the page means that it knows by now whom to ask instead of opening a dialog; a key would overtake that.
    await page.evaluate(() => 0);
    await page.keyboard.press("Control+O");
    await (await chooser).setFiles({ name: "holiday.jpg", mimeType: "image/jpeg", buffer: Buffer.from([0xff, 0xd8, 0xff, 1, 2]) });
    await stage.until(page, (state) => /holiday\.jpg/.test(state.notes.join()), "a note that names the file");
  });
  await stage.check("B4: of a file that is too large only the size is looked at", async () => {
    await stage.open(page, "/");
    await stage.drop(page, [{ name: "huge.zip", mib: 300 }]);
    const state = await stage.until(page, (state) => /huge\.zip/.test(state.notes.join()), "a note");
    assert(/300 MiB.*256 MiB.*desktop/.test(state.notes.join()), state.notes.join());
  });
  await stage.check("B10: an old bookmark leads to the nearest chapter, with a note, and is corrected", async () => {
    await stage.open(page, `/ch/02_access_paterns?stride=2`);
    const state = await stage.until(page, (state) => state?.route.startsWith(`/ch/${CHAPTER}`), "the nearest chapter");
    assert(/02_access_paterns/.test(state.notes.join()), "the note names what was asked for");
    assert((await page.evaluate(() => location.hash)).startsWith(`#/ch/${CHAPTER}`), "the address is corrected");
  });
  await stage.check("L12: a parameter out of range is refused and the default shown", async () => {
    await stage.open(page, `/ch/${CHAPTER}/step/sectors?stride_elems=1e30`);
    const open = (state) => state?.figures?.[`${CHAPTER}/sectors`];
    const state = await stage.until(page, open, "the figure");
    assert(/stride_elems/.test(open(state).refused ?? ""), JSON.stringify(open(state)));
    equal(open(state).params.stride_elems, 2, "the chapter's own stride");
    await page.waitForFunction(() => !location.hash.includes("stride_elems"), null, { timeout: 10_000 });
  });
  await stage.check("B6: a panic is told in words, and the progress is safe", () => panic(stage, page));
  await stage.check("B1: a lost canvas comes back at the same place", () => contextLost(stage, page));
  await stage.check("B3: after the first visit the page opens without a network", () => offline(stage, page));
  await context.close();

  await stage.check("B1: without WebGL 2 there is a sentence and the text version", async () => {
    const browser = await stage.launch(["--disable-gpu", "--disable-3d-apis"]);
    const { page } = await stage.visitor({ browser });
    await page.goto(stage.url());
    assert(/WebGL 2/.test(await stage.words(page, "webgl")), "it names what is missing");
    await page.locator('#words a[href="text/index.html"]').click();
    await page.waitForURL(/text\/index\.html$/);
    await browser.close();
  });
  await stage.check("B2: blocked storage is told once, and the visit goes on", () => blockedStorage(stage));
  await stage.check("B3: a page whose files are gone reloads once, then says so", async () => {
    server.faults.missing = /vramlab_bg-.*\.wasm$/;
    await fresh(stage, async (page) => {
      let n_loads = 0;
      page.on("load", () => { n_loads += 1; });
      await page.goto(stage.url());
      await stage.words(page, "stale");
      equal(n_loads, 2, "loads");
    });
  });
  await stage.check("B9: a server that sends the program as text is named", async () => {
    server.faults.wasmType = "text/html";
    await fresh(stage, async (page) => {
      await page.goto(stage.url());
      assert(/text\/html/.test(await stage.words(page, "mime")), "the type it came as");
    });
  });
  await stage.check("B9: a server that does not know wasm works all the same", async () => {
    server.faults.wasmType = "application/octet-stream";
    await fresh(stage, (page) => stage.open(page));
  });
  await stage.check("B9: a policy that forbids WebAssembly is named", async () => {
    const { policy } = server.faults;
    server.faults.policy = policy.replace(" 'wasm-unsafe-eval'", "");
    await fresh(stage, async (page) => {
      await page.goto(stage.url());
      await stage.words(page, "csp");
    }).finally(() => { server.faults.policy = policy; });
  });
  await stage.check("B8: at 320 px the page is one column", async () => {
    await fresh(stage, async (page) => {
      await stage.open(page, `/ch/${CHAPTER}/step/sectors?stride_elems=2`);
      await stage.until(page, (state) => state?.figures?.[`${CHAPTER}/sectors`], "the figure");
      equal(await page.evaluate(() => document.documentElement.scrollWidth), 320, "width of the document");
      await stage.picture(page, "chapter-320");
    }, { viewport: { width: 320, height: 640 } });
  });
}

// A visitor of its own, and no fault left behind.
async function fresh(stage, run, context = {}) {
  const visitor = await stage.visitor({ context });
  try {
    await run(visitor.page);
  } finally {
    stage.server.faults.missing = null;
    stage.server.faults.wasmType = null;
    await visitor.context.close();
  }
}

async function panic(stage, page) {
  await stage.open(page, `/ch/${CHAPTER}`);
  const before = await stage.until(page, (state) => state?.progress, "the chapter");
  await page.evaluate(() => { try { window.vramlab.fault(); } catch { /* as meant */ } });
  const text = await stage.words(page, "panic");
  assert(/this fault was asked for/.test(text), text);
  await page.locator("#buttons button").last().click();
  const after = await stage.until(page, (state) => state?.progress, "it runs again");
  equal(after.progress, before.progress, "progress");
}

async function contextLost(stage, page) {
  const route = `/ch/${CHAPTER}/step/sectors`;
  await stage.open(page, route);
  await page.evaluate(() => {
    window.before = document.getElementById("canvas");
    window.before.getContext("webgl2").getExtension("WEBGL_lose_context").loseContext();
  });
  await page.waitForFunction(() => document.getElementById("canvas") !== window.before, null, { timeout: 30_000 });
  const state = await stage.until(page, (state) => state !== null, "it runs again");
  assert(state.route.startsWith(route), state.route);
  const picture = await page.screenshot();
  assert(picture.length > 20_000, `${picture.length} bytes of picture`);
}

async function offline(stage, page) {
  await stage.open(page, `/ch/${CHAPTER}`);
  await page.evaluate(() => navigator.serviceWorker.ready);
  await page.waitForFunction(() => navigator.serviceWorker.controller !== null, null, { timeout: 30_000 });
  stage.server.faults.isDown = true;
  try {
    const n_asked = stage.server.asked.length;
    await page.reload();
    const state = await stage.until(page, (state) => state?.progress, "the chapter is open");
    equal(state.route, `/ch/${CHAPTER}`, "place");
    equal(stage.server.asked.length, n_asked, "what the server was asked");
    await page.goto(`${stage.server.root}text/${CHAPTER}.en.html`);
    assert((await page.locator("h1").count()) === 1, "the text version too");
  } finally {
    stage.server.faults.isDown = false;
  }
}

async function blockedStorage(stage) {
  const { page, context } = await stage.visitor({ context: { locale: "en-GB" } });
  await page.addInitScript(() => {
    for (const name of ["localStorage", "sessionStorage"]) {
      Object.defineProperty(window, name, { get: () => { throw new DOMException("blocked", "SecurityError"); } });
    }
  });
  await stage.open(page, `/ch/${CHAPTER}/step/sectors`);
  const state = await stage.until(page, (state) => state.notes.length > 0, "a note");
  equal(state.notes.length, 1, "notes");
  assert(/memory/.test(state.notes[0]) && /export/.test(state.notes[0]), state.notes[0]);
  await page.keyboard.press("PageDown");
  await page.waitForTimeout(3_000);
  equal((await stage.state(page)).notes.length, 1, "it does not nag");
  await context.close();
}
