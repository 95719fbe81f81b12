import type { Page } from "playwright-core";
import { describe, expect, test } from "vitest";
import type { DashboardWorld } from "../../support/dashboard/dashboard-world.js";

const VIEWPORT = { width: 1280, height: 900 };
/** One page of each part of the list. */
const PARTS = ["cases", "npm-package", "importing", "statistics", "funnel", "restore", "contributing"];

export function guideSuite(world: () => DashboardWorld): void {
  describe("the guide", () => {
    const address = (name: string) => new URL(`/docs/guide/${name}`, world().api.url).href;

    test("shows its list whole, and the sections of the page at its right", async () => {
      await using window = await world().browser.open({ viewport: VIEWPORT });
      const { page } = window;
      for (const name of PARTS) {
        await page.goto(address(name));
        const list = page.getByRole("navigation", { name: "Guide" });
        const hidden = await list.evaluate(({ scrollHeight, clientHeight }) => scrollHeight - clientHeight);
        expect([name, hidden]).toEqual([name, 0]);
      }
      const article = await page.locator("article").boundingBox();
      const sections = await page.getByRole("navigation", { name: "On this page" }).boundingBox();
      expect(sections?.x).toBeGreaterThanOrEqual((article?.x ?? 0) + (article?.width ?? Infinity));
    });

    test("moves nothing while a page with a picture and blocks loads", async () => {
      await using window = await world().browser.open({ viewport: VIEWPORT });
      for (const name of ["core-ideas", "restore"]) {
        await window.page.goto(address(name), { waitUntil: "networkidle" });
        expect([name, await shiftOf(window.page)]).toEqual([name, 0]);
      }
    });

    test("underlines links in tables, lists and text", async () => {
      await using window = await world().browser.open({ viewport: VIEWPORT });
      await window.page.goto(address("operating"));
      const lines = await window.page
        .locator("article :is(p, li, td, th) a")
        .evaluateAll((links) => links.map((link) => getComputedStyle(link).textDecorationLine));
      expect(lines.length).toBeGreaterThan(10);
      expect(lines.filter((line) => line !== "underline")).toEqual([]);
    });

    test("finds the words of a page, and opens it, without a script", async () => {
      await using window = await world().browser.open({ viewport: VIEWPORT, javaScriptEnabled: false });
      const { page } = window;
      await page.goto(address("cases"));
      await page.getByRole("searchbox", { name: "Search the guide" }).fill("reset consumer group");
      await page.keyboard.press("Enter");
      await page.getByRole("link", { name: "Restore › Reset the consumer group" }).click();
      await page.waitForURL(/restore#reset-the-consumer-group$/);
      await page.getByRole("link", { name: "Next" }).click();
      await page.waitForURL(/dead-letters$/);
    });
  });
}

/** How much of the page moved since it was opened, as browsers measure it (cumulative layout shift). */
function shiftOf(page: Page): Promise<number> {
  return page.evaluate(
    () =>
      new Promise<number>((done) => {
        let moved = 0;
        new PerformanceObserver((list) => {
          for (const entry of list.getEntries()) moved += (entry as unknown as { value: number }).value;
        }).observe({ type: "layout-shift", buffered: true });
        requestAnimationFrame(() => requestAnimationFrame(() => done(moved)));
      }),
  );
}
