// Pictures of the chapter to be looked at: both languages, both themes, three widths.

import { assert } from "./stage.mjs";
import { CHAPTER } from "./lessons.mjs";

const SIZES = [[1440, 900], [900, 900], [390, 844]];

export async function pictures(stage) {
  await stage.check("pictures: two languages, two themes, three widths", async () => {
    for (const [width, height] of SIZES) {
      for (const theme of ["light", "dark"]) {
        const { page, context } = await stage.visitor({ context: { viewport: { width, height }, colorScheme: theme } });
        for (const lang of ["zh", "en"]) {
          await stage.open(page, `/ch/${CHAPTER}/step/sectors?stride_elems=2&lang=${lang}`);
          const wanted = (state) => state?.lang === lang && state.figures?.[`${CHAPTER}/sectors`];
          const state = await stage.until(page, wanted, `${lang} ${theme}`);
          assert(state.is_dark === (theme === "dark"), `${theme} was asked for`);
          await page.waitForTimeout(400);
          await stage.picture(page, `sectors-${lang}-${theme}-${width}`);
        }
        await context.close();
      }
    }
  });
  await stage.check("pictures: start page, bank grid, experiment", async () => {
    const { page, context } = await stage.visitor();
    for (const [name, route] of [["start", "/"], ["banks", `/ch/${CHAPTER}/step/banks`], ["stride", `/ch/${CHAPTER}/step/stride`]]) {
      await stage.open(page, route);
      await page.waitForTimeout(1_500);
      await stage.picture(page, `${name}-zh-light-1440`);
    }
    await context.close();
  });
}
