// Walks the built page in Chromium: node walk.mjs DIST PLAYWRIGHT PICTURES CHROMIUM. The last line counts the checks.

import { serve } from "./server.mjs";
import { Stage } from "./stage.mjs";
import { lessons } from "./lessons.mjs";
import { faults } from "./faults.mjs";
import { parts } from "./parts.mjs";
import { snapshot } from "./snapshot.mjs";
import { pictures } from "./pictures.mjs";

const [dist, playwright, target, chromium] = process.argv.slice(2);
const only = process.env.WALK_ONLY ?? "";
const server = await serve(dist);
const stage = new Stage({ server, playwright, chromium, pictures: target });
await stage.start();
for (const [name, suite] of Object.entries({ lessons, parts, faults, snapshot, pictures })) {
  if (!only || only.split(",").includes(name)) await suite(stage, dist);
}
await stage.browser.close();
await stage.check("nothing was asked of another host", () => {
  if (stage.foreign.size > 0) throw new Error([...stage.foreign].join("\n"));
});
server.close();
console.log(`${stage.passed} passed, ${stage.failed} failed`);
process.exit(stage.failed === 0 ? 0 : 1);
