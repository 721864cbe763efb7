// The program comes in two parts: the first page runs on the first one; the other chapters and the pages of files wait for
// the second, which joins it in the background.

import { readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { assert, equal } from "./stage.mjs";
import { CHAPTER } from "./lessons.mjs";

const LATE = /vramlab_late-.*\.wasm$/;
const OTHER = "05_peak";

// Every chapter that is written, with its steps, as the text version has them.
function chaptersOf(dist) {
  const names = readdirSync(join(dist, "text")).filter((name) => /^\d\d_.*\.en\.html$/.test(name));
  return names.map((name) => {
    const html = readFileSync(join(dist, "text", name), "utf8");
    return { id: name.replace(".en.html", ""), steps: [...html.matchAll(/<section id="([^"]+)">/g)].map((it) => it[1]) };
  });
}

const isWhole = (page) => page.evaluate(() => window.vramlab.isWhole());
const until = (page, wanted) => page.waitForFunction((wanted) => window.vramlab?.isWhole() === wanted, wanted, { timeout: 60_000 });

// A visitor whose program stays without its second part until `release`.
async function held(stage, run) {
  const { context, page } = await stage.visitor({ context: { locale: "en-GB" } });
  stage.server.faults.held = LATE;
  try {
    await run(page);
    equal(page.errors, [], "errors");
  } finally {
    stage.server.faults.missing = null;
    stage.server.release();
    await context.close();
  }
}

// Goes through every step of a chapter; figures are open, nothing is refused.
async function walk(stage, page, { id, steps }) {
  for (const step of steps) {
    const wanted = `/ch/${id}/step/${step}`;
    await stage.go(page, wanted);
    const state = await stage.until(page, (state) => state?.route.startsWith(wanted) && state.title, wanted);
    equal(state.notes, [], `notes at ${step}`);
  }
  await page.waitForTimeout(300);
  const { figures } = await stage.state(page);
  const broken = Object.entries(figures).filter(([name, it]) => name.startsWith(id) && it.error);
  equal(broken, [], `figures of ${id} that could not be opened`);
}

// The pages that the first part has.
async function around(stage, page) {
  for (const route of ["/settings", "/review", "/help", "/evidence", "/files", "/"]) {
    await stage.go(page, route);
    await stage.until(page, (state) => state?.route.startsWith(route), route);
    await page.waitForTimeout(100);
  }
}

export async function parts(stage, dist) {
  const { server } = stage;
  const chapters = chaptersOf(dist);

  await stage.check("the first part alone carries the start page, the first chapter and the settings", () => held(stage, async (page) => {
    await stage.open(page, "/");
    await around(stage, page);
    await walk(stage, page, chapters.find(({ id }) => id === CHAPTER));
    equal(await isWhole(page), false, "whole");
  }));
  await stage.check("a chapter outside waits for the second part, and what was done is kept", () => held(stage, async (page) => {
    await stage.open(page, `/ch/${CHAPTER}/step/sectors?stride_elems=8`);
    const before = await stage.until(page, (state) => state?.figures?.[`${CHAPTER}/sectors`], "the figure");
    await stage.go(page, `/ch/${OTHER}`);
    const waiting = await stage.until(page, (state) => state?.route === `/ch/${OTHER}`, "the address");
    equal([waiting.title, waiting.notes], [null, []], "nothing there yet, nothing to complain about");
    await stage.picture(page, "coming-en-light-1440");
    server.release();
    const there = await stage.until(page, (state) => state?.title, "the chapter");
    equal([there.route, there.notes], [`/ch/${OTHER}`, []], "the place");
    await page.goBack();
    const back = await stage.until(page, (state) => state?.route.startsWith(`/ch/${CHAPTER}/step/sectors`), "back");
    equal(back.figures[`${CHAPTER}/sectors`].params, before.figures[`${CHAPTER}/sectors`].params, "the figure as it was");
  }));
  await stage.check("pages of files and what is dropped wait for the second part", () => held(stage, async (page) => {
    await stage.open(page, "/fit");
    for (const route of ["/snapshot", "/profile", "/fit"]) {
      await stage.go(page, route);
      await stage.until(page, (state) => state?.route.startsWith(route), route);
    }
    await stage.drop(page, [{ name: "newer.toml", text: 'schema = 9\ntitle.en = "Newer"\n' }]);
    await page.waitForTimeout(500);
    equal((await stage.state(page)).notes, [], "notes before");
    server.release();
    await stage.until(page, (state) => /newer\.toml/.test(state?.notes.join()), "the file is read");
  }));
  await stage.check("an address outside opens directly, at its step", async () => {
    const { context, page } = await stage.visitor({ context: { locale: "en-GB" } });
    const { id, steps } = chapters.find(({ id }) => id === OTHER);
    const wanted = `/ch/${id}/step/${steps[3]}`;
    await stage.open(page, wanted);
    const state = await stage.until(page, (state) => state?.title, "the chapter");
    assert(state.route.startsWith(wanted), state.route);
    equal([state.notes, page.errors], [[], []], "notes and errors");
    await context.close();
  });
  await stage.check("without a network the page says so, and goes on as soon as there is one", async () => {
    const { context, page } = await stage.visitor({ context: { locale: "en-GB" } });
    await page.route(LATE, (route) => route.abort());
    await stage.open(page, `/ch/${OTHER}`);
    await page.waitForTimeout(1_500);
    await stage.picture(page, "coming-failed-en-light-1440");
    await page.route(/chapter\.toml/, (route) => route.abort());
    await page.unroute(LATE);
    await until(page, true);
    await page.waitForTimeout(1_000);
    equal((await stage.state(page)).title, null, "title without the chapter's text");
    await page.unroute(/chapter\.toml/);
    await stage.until(page, (state) => state?.title, "the chapter");
    equal(page.errors, [], "errors");
    await context.close();
  });
  await stage.check("a call into the second part before it is here loads the page again, whole", () => held(stage, async (page) => {
    await stage.open(page, `/ch/${CHAPTER}/step/sectors?stride_elems=8`);
    await page.evaluate(() => setTimeout(() => dispatchEvent(new ErrorEvent("error", { error: new WebAssembly.RuntimeError("null function") }))));
    server.release();
    await until(page, true);
    const state = await stage.until(page, (state) => state?.figures?.[`${CHAPTER}/sectors`], "the figure");
    equal(state.figures[`${CHAPTER}/sectors`].params.stride_elems, 8, "the place");
  }));
  await stage.check("every step of every chapter opens", async () => {
    // A small window: what is looked for are errors, and a browser without a card paints every pixel on the processor.
    const look = { locale: "en-GB", serviceWorkers: "block", viewport: { width: 720, height: 540 } };
    const { context, page } = await stage.visitor({ context: look });
    await stage.open(page, "/");
    for (const chapter of chapters) {
      await stage.go(page, `/ch/${chapter.id}`);
      await stage.until(page, (state) => state?.route.startsWith(`/ch/${chapter.id}`) && state.title, chapter.id);
      await walk(stage, page, chapter);
    }
    equal(page.errors, [], "errors");
    // What is kept of these chapters must not call what is not there when the reader comes back.
    server.faults.held = LATE;
    await stage.open(page, "/");
    await around(stage, page);
    server.release();
    equal(page.errors, [], "errors of the next visit");
    await context.close();
  });
}
