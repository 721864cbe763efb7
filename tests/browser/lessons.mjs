// What a learner does: walks the chapter in both languages, moves a slider, predicts, replays, comes back tomorrow.

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { assert, equal } from "./stage.mjs";

export const CHAPTER = "02_access_patterns";
const at = (step, query = "") => `/ch/${CHAPTER}/step/${step}${query}`;
const figure = (state, step) => state?.figures?.[`${CHAPTER}/${step}`];

// The steps as the text version has them: both come from one TOML.
function stepsOf(dist, lang) {
  const html = readFileSync(join(dist, `text/${CHAPTER}.${lang}.html`), "utf8");
  return [...html.matchAll(/<section id="([^"]+)">/g)].map((match) => match[1]);
}

export async function lessons(stage, dist) {
  const { context, page } = await stage.visitor();
  await stage.check("the page opens on a sub-folder", async () => {
    const state = await stage.open(page);
    equal(state.lang, "zh", "the language of a Chinese browser");
    equal(await page.locator("html").getAttribute("lang"), "zh-CN", "the document's language");
    assert(await page.locator("#words").isHidden(), "the words before the program are gone");
  });
  for (const lang of ["zh", "en"]) {
    await stage.check(`every step of chapter 02 in ${lang}`, () => walkSteps(stage, page, dist, lang));
  }
  await stage.check("the start page, chapter and step are history; back and forward follow it", () => history(stage, page));
  await stage.check("a slider moved by key changes the number", () => slider(stage, page));
  await stage.check("a slider moved by pointer changes the number, and makes no history", () => pointer(stage, page));
  await stage.check("a prediction is kept", () => predict(stage, page));
  await stage.check("after a reload the progress is there", async () => {
    const before = await stage.state(page);
    await page.reload();
    const after = await stage.until(page, (state) => state?.progress, "the chapter is open again");
    equal(after.progress.done, before.progress.done, "steps done");
    assert(after.progress.done > 0, "something was done");
  });
  await stage.check("a recorded run is replayed", () => replay(stage, page));
  await stage.check("a deep link opens on its state and language", async () => {
    const { page, context } = await stage.visitor();
    await stage.open(page, at("sectors", "?stride_elems=8&lang=en"));
    const state = await stage.until(page, (state) => figure(state, "sectors"), "the figure is open");
    equal(state.lang, "en", "language");
    equal(figure(state, "sectors").params.stride_elems, 8, "stride");
    // 32 lanes, 32 bytes apart: a sector each.
    assert(/\b32\b/.test(figure(state, "sectors").finding), figure(state, "sectors").finding);
    await context.close();
  });
  await stage.check("the link to this place can be copied", async () => {
    await context.grantPermissions(["clipboard-read", "clipboard-write"]);
    await stage.go(page, at("sectors"));
    await stage.until(page, (state) => state.route.startsWith(at("sectors")), "the step is open");
    await page.keyboard.press("Control+Shift+C");
    await page.waitForFunction(async () => (await navigator.clipboard.readText()).includes("#/ch/"), null, { timeout: 10_000 });
    const link = await page.evaluate(() => navigator.clipboard.readText());
    assert(link.startsWith(stage.url(at("sectors"))), link);
  });
  await stage.check("an English browser reads English", async () => {
    const { page, context } = await stage.visitor({ context: { locale: "en-GB" } });
    equal((await stage.open(page)).lang, "en", "language");
    await context.close();
  });
  await stage.check("reduced motion is asked of the browser", async () => {
    const { page, context } = await stage.visitor({ context: { reducedMotion: "reduce" } });
    equal((await stage.open(page)).has_motion, false, "motion");
    await context.close();
  });
  await stage.check("the text version has both languages and needs no script", async () => {
    const { page, context } = await stage.visitor({ context: { javaScriptEnabled: false } });
    await page.goto(`${stage.server.root}text/index.html`);
    for (const [lang, words] of [["zh", /扇区/], ["en", /sectors/]]) {
      await page.goto(`${stage.server.root}text/${CHAPTER}.${lang}.html`);
      assert(words.test(await page.locator("body").innerText()), lang);
    }
    await context.close();
  });
  await stage.check("no page threw an error", () => equal(page.errors, [], "errors"));
  await context.close();
}

async function walkSteps(stage, page, dist, lang) {
  const steps = stepsOf(dist, lang);
  assert(steps.length >= 8, `${steps.length} steps`);
  for (const step of steps) {
    await stage.go(page, at(step, `?lang=${lang}`));
    const wanted = at(step);
    const state = await stage.until(page, (state) => state?.route.startsWith(wanted) && state.lang === lang, wanted);
    equal(state.notes, [], `notes at ${step}`);
  }
  const picture = await page.screenshot();
  assert(picture.length > 30_000, `a page of text and figures, not ${picture.length} bytes of nothing`);
}

async function history(stage, page) {
  await stage.open(page, "/");
  for (const route of [`/ch/${CHAPTER}`, at("sectors")]) {
    await stage.go(page, route);
    await stage.until(page, (state) => state?.route === route, route);
  }
  await page.goBack();
  await stage.until(page, (state) => state?.route === `/ch/${CHAPTER}`, "one back");
  await page.goBack();
  await stage.until(page, (state) => state?.route === "/", "two back");
  await page.goForward();
  await stage.until(page, (state) => state?.route === `/ch/${CHAPTER}`, "one forward");
}

async function sectorsAt(stage, page, stride) {
  await stage.open(page, "/settings");
  await stage.go(page, at("sectors", `?stride_elems=${stride}&lang=en`));
  return stage.until(page, (state) => figure(state, "sectors")?.params.stride_elems === stride, `stride ${stride}`);
}

async function slider(stage, page) {
  const before = await sectorsAt(stage, page, 2);
  await page.locator("canvas").focus();
  await stage.focus(page, /stride.*slider|slider.*stride/i);
  await page.keyboard.press("ArrowRight");
  const state = await stage.until(page, (state) => figure(state, "sectors").params.stride_elems === 3, "stride 3");
  // 32 lanes, 12 bytes apart: 384 bytes, 12 sectors.
  assert(/\b12\b/.test(figure(state, "sectors").finding), figure(state, "sectors").finding);
  assert(figure(state, "sectors").finding !== figure(before, "sectors").finding, "the finding changed");
}

async function pointer(stage, page) {
  await sectorsAt(stage, page, 2);
  await page.locator("canvas").focus();
  const focus = await stage.focus(page, /stride.*slider|slider.*stride/i);
  const length = await page.evaluate(() => window.history.length);
  for (const share of [0.3, 0.5, 0.7]) await stage.clickInside(page, focus, share);
  await stage.until(page, (state) => figure(state, "sectors").params.stride_elems > 2, "a larger stride");
  equal(await page.evaluate(() => window.history.length), length, "history entries");
  // The address holds the state: whoever opens it sees the same figure.
  const { stride_elems: stride } = figure(await stage.state(page), "sectors").params;
  await page.waitForFunction((stride) => location.hash.includes(`stride_elems=${stride}`), stride, { timeout: 10_000 });
}

async function predict(stage, page) {
  await stage.open(page, at("puzzle", "?lang=en"));
  const before = await stage.until(page, (state) => state?.progress, "the chapter is open");
  await page.locator("canvas").focus();
  await stage.focus(page, /\bB: text input/); // the field is named by its unit
  await page.keyboard.type("256");
  await page.keyboard.press("Enter");
  await stage.until(page, (state) => state.progress.done > before.progress.done, "the prediction counts as a step done");
}

async function replay(stage, page) {
  await stage.open(page, at("stride", "?lang=en"));
  const shown = await stage.until(page, (state) => state?.experiments?.["strided_read/stride"]?.shown, "a recording is here");
  const { shown: run } = shown.experiments["strided_read/stride"];
  assert(run.is_recorded && run.all_points > 5 && /^\d{4}-\d\d-\d\d/.test(run.date), JSON.stringify(run));
  equal(run.is_stale, false, "the recording is of the kernel of today");
  await page.locator("canvas").focus();
  await stage.focus(page, /replay/i);
  await page.keyboard.press("Space");
  const experiment = (state) => state.experiments["strided_read/stride"];
  await stage.until(page, (state) => experiment(state).is_replaying, "it plays");
  const end = await stage.until(page, (state) => !experiment(state).is_replaying, "it has played");
  equal(experiment(end).shown.points, run.all_points, "points at the end");
  await stage.picture(page, "replayed-en-light-1440");
}
