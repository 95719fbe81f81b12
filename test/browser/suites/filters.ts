import { describe, expect, test } from "vitest";
import { ORGANIZATION, type DashboardWorld } from "../../support/dashboard/dashboard-world.js";
import { sumsOf, type KnownLine } from "../../support/dashboard/known-lines.js";
import { readTables, readTiles } from "../../support/dashboard/read-page.js";
import { newestFirst } from "../../../aggregate/statistics/compare-versions.js";
import { daysAgo } from "./docs.js";

const PAGE = `/o/${ORGANIZATION}/packages/${encodeURIComponent("acme/web")}`;

export function filterSuite(world: () => DashboardWorld): void {
  /** What the page has to show of the last 30 days. */
  const linesOf = (isKept: (country: string) => boolean) => {
    const first = new Date(Date.now() - 29 * 86_400_000).toISOString().slice(0, 10);
    return world().lines.filter(({ date, country }) => date >= first && isKept(country));
  };
  const expected = (isKept: (country: string) => boolean) => sumsOf(linesOf(isKept));

  describe("filters", () => {
    test.each([{ javaScriptEnabled: true }, { javaScriptEnabled: false }])(
      "a click on a country keeps its events alone, back restores all, and the address shows others the same (%o)",
      async (options) => {
        await using window = await world().windowOf("ada", options);
        const { page } = window;
        await page.goto(world().at(PAGE));
        expect(await readTiles(page)).toMatchObject(expected(() => true));
        await page.getByRole("link", { name: "Germany", exact: true }).click();
        await page.waitForURL(/[?&]country=DE/);
        expect(await readTiles(page)).toMatchObject(expected((country) => country === "DE"));
        expect(
          (await readTables(page))["Versions"]?.map(([version, count]) => [version, Number(count)]),
        ).toEqual(versionsOf(linesOf((country) => country === "DE")));
        expect(await page.locator("table.bars a[aria-current]").allInnerTexts()).toEqual(["Germany"]);
        const address = page.url();
        await page.goBack();
        expect(await readTiles(page)).toMatchObject(expected(() => true));
        await using other = await world().windowOf("bob", options);
        await other.page.goto(address);
        expect(await readTiles(other.page)).toMatchObject(expected((country) => country === "DE"));
        await other.page.locator("table.bars a[aria-current]").click();
        await other.page.waitForURL((url) => !url.searchParams.has("country"));
        expect(await readTiles(other.page)).toMatchObject(expected(() => true));
      },
    );

    test("are set, seen and removed by the keyboard alone", async () => {
      await using window = await world().windowOf("ada");
      const { page } = window;
      await page.goto(world().at(PAGE));
      await page.keyboard.press("Tab");
      expect(await page.locator(":focus").innerText()).toBe("Skip to content");
      await page.keyboard.press("Enter");
      for (let press = 0; press < 60; press += 1) {
        await page.keyboard.press("Tab");
        if ((await page.locator(":focus").getAttribute("data-value")) === "DE") break;
      }
      await page.keyboard.press("Enter");
      await page.waitForURL(/country=DE/);
      expect(await readTiles(page)).toMatchObject(expected((country) => country === "DE"));
      await page.keyboard.press("Escape");
      await page.waitForURL((url) => !url.searchParams.has("country"));
    });

    test("arrow keys show the numbers of each day, and ? the keys", async () => {
      await using window = await world().windowOf("ada");
      const { page } = window;
      await page.goto(world().at(PAGE));
      await page.locator(".pointed").first().focus();
      await page.keyboard.press("End");
      const last = await page.locator(".tip").first().innerText();
      await page.keyboard.press("ArrowLeft");
      const before = await page.locator(".tip").first().innerText();
      expect(last).toMatch(/Downloads [\d,]+/);
      expect(before).not.toBe(last);
      await page.keyboard.press("?");
      expect(await page.getByRole("dialog", { name: "Keyboard shortcuts" }).isVisible()).toBe(true);
    });

    test("days that are drawn over become the range, a day is opened by itself, and Escape goes back", async () => {
      await using window = await world().windowOf("ada");
      const { page } = window;
      await page.goto(world().at(PAGE));
      const chart = page.locator(".pointed").first();
      const { x, y, width } = (await chart.boundingBox()) ?? { x: 0, y: 0, width: 0 };
      const at = (part: number) => [x + width * part, y + 40] as const;
      await page.mouse.move(...at(10 / 29));
      await page.mouse.down();
      await page.mouse.move(...at(19.2 / 29));
      await page.mouse.up();
      await page.waitForURL(/lastDate=/);
      const range = () => {
        const { searchParams } = new URL(page.url());
        return [searchParams.get("startDate"), searchParams.get("lastDate")];
      };
      expect(range()).toEqual([daysAgo(19), daysAgo(10)]);
      await page.keyboard.press("Escape");
      await page.waitForURL((url) => !url.searchParams.has("lastDate"));
      await chart.focus();
      await page.keyboard.press("End");
      await page.keyboard.press("ArrowLeft");
      await page.keyboard.press("Enter");
      await page.waitForURL(/lastDate=/);
      expect(range()).toEqual([daysAgo(1), daysAgo(1)]);
    });

    test("/ leads to what has a name, and Enter to the list of it", async () => {
      await using window = await world().windowOf("ada");
      const { page } = window;
      await page.goto(world().at(PAGE));
      await page.keyboard.press("/");
      await page.keyboard.type("ACME/w");
      await page.keyboard.press("Enter");
      await page.getByRole("link", { name: "acme/web", exact: true }).click();
      await page.getByRole("heading", { name: "acme/web" }).waitFor();
    });

    test("a list in full is searched and turned over", async () => {
      await using window = await world().windowOf("ada", { javaScriptEnabled: false });
      const { page } = window;
      await page.goto(world().at(PAGE));
      await page.getByRole("link", { name: "All clients" }).click();
      await page.getByRole("searchbox", { name: "Search clients" }).fill("curl");
      await page.getByRole("button", { name: "Search" }).click();
      expect(await page.locator("table.bars a").allInnerTexts()).toEqual(["curl 8.5.0"]);
    });
  });
}

/** The most frequent first. */
function versionsOf(lines: readonly KnownLine[]): [string, number][] {
  const counts = new Map<string, number>();
  for (const { version } of lines) counts.set(version, (counts.get(version) ?? 0) + 1);
  const order = newestFirst("tag");
  return [...counts].sort(([one, a], [other, b]) => b - a || order(one, other));
}
