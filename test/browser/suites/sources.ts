import { describe, expect, test } from "vitest";
import { type DashboardWorld, NPM_DOWNLOADS, ORGANIZATION } from "../../support/dashboard/dashboard-world.js";

const LOOKS = [
  { viewport: { width: 1280, height: 800 }, colorScheme: "light", javaScriptEnabled: true },
  { viewport: { width: 390, height: 800 }, colorScheme: "dark", javaScriptEnabled: false },
] as const;

export function sourceSuite(world: () => DashboardWorld): void {
  describe("the page of a package on npm", () => {
    test.each(LOOKS)(
      "is pasted, and a click later there is a chart of npm's counts: $viewport.width px, script $javaScriptEnabled",
      async (look) => {
        await using window = await world().windowOf("ada", look);
        const { page } = window;
        const name = `left-pad-${look.viewport.width}`;
        await page.goto(world().at(`/o/${ORGANIZATION}/new`));
        await page
          .getByRole("textbox", { name: "Package URL" })
          .fill(`https://www.npmjs.com/package/${name}`);
        await page.getByRole("button", { name: "Fetch counts" }).click();
        await expect
          .poll(async () => {
            if (!look.javaScriptEnabled) await page.reload();
            return page.locator("svg.plot").count();
          })
          .toBe(1);
        // Of the 30 days that are shown the running one has no count.
        await page.getByText(`${(29 * NPM_DOWNLOADS).toLocaleString("en")} downloads`).waitFor();
        expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(look.viewport.width);
      },
    );
  });
}
