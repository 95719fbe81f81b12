import axe from "axe-core";
import type { Page } from "playwright-core";
import { describe, expect, test } from "vitest";
import { ORGANIZATION, type DashboardWorld } from "../../support/dashboard/dashboard-world.js";

const EXPORT = "#operations-Exports-exportOrganizationAggregates";

/** All sections of operations but the first three, which have every method. The others look the same. */
const ALIKE = "span:nth-child(n + 4) > .opblock-tag-section";

export function docsSuite(world: () => DashboardWorld): void {
  describe("the page of the API", () => {
    test("keeps the token while it tries out an export of lines", async () => {
      await using window = await world().browser.open({ colorScheme: "light" });
      const { page } = window;
      await open(page, world());
      expect(await page.locator("#servers").inputValue()).toBe(world().api.url.replace(/\/$/, ""));
      expect(await page.locator(".opblock-tag").first().innerText()).toBe("Packages");
      expect(await isDark(page)).toBe(false);
      await authorize(page, world().api.token);
      await page.reload();
      const answer = await tryOut(page);
      expect(answer).toContain('{"breakdown":"total","date":"');
      expect(answer).not.toContain("can't parse JSON");
    });

    test("is dark in a dark browser", async () => {
      await using window = await world().browser.open({ colorScheme: "dark" });
      await open(window.page, world());
      expect(await isDark(window.page)).toBe(true);
    });
  });
}

export function docsAppearanceSuite(world: () => DashboardWorld): void {
  test("the page of the API, its dialog and an answer are accessible in light and dark", async () => {
    await using window = await world().browser.open({ colorScheme: "light" });
    const { page } = window;
    await open(page, world());
    expect(await faultsOf(page, { include: "body", exclude: ALIKE })).toEqual([]);
    await page.click(".btn.authorize");
    expect(await faultsOf(page, ".dialog-ux")).toEqual([]);
    await page.click(".dialog-ux .btn-done");
    await authorize(page, world().api.token);
    await tryOut(page);
    expect(await faultsOf(page, EXPORT)).toEqual([]);
  });
}

function isDark(page: Page): Promise<boolean> {
  return page.locator("html").evaluate(({ classList }) => classList.contains("dark-mode"));
}

async function open(page: Page, { api }: DashboardWorld): Promise<void> {
  await page.goto(new URL("/docs", api.url).href);
  await page.locator(".opblock").first().waitFor();
}

async function authorize(page: Page, token: string): Promise<void> {
  await page.click(".btn.authorize");
  await page.fill(".auth-container input", token);
  await page.click(".auth-btn-wrapper .authorize");
  await page.click(".auth-btn-wrapper .btn-done");
}

/** The answer's body, as the page shows it. */
async function tryOut(page: Page): Promise<string> {
  await page.click(`${EXPORT} .opblock-summary-control`);
  await page.click(`${EXPORT} .try-out__btn`);
  const asked = { owner: ORGANIZATION, startDate: daysAgo(30), endDate: daysAgo(29) };
  for (const [name, value] of Object.entries(asked))
    await page.fill(`${EXPORT} tr[data-param-name="${name}"] input`, value);
  await page.fill(`${EXPORT} tr[data-param-name="breakdown"] input`, "total");
  await page.click(`${EXPORT} .execute`);
  return page.locator(`${EXPORT} .live-responses-table`).innerText();
}

export function daysAgo(days: number): string {
  return new Date(Date.now() - days * 86_400_000).toISOString().slice(0, 10);
}

/** In a part of the page: everything as it is, and the colours alone when it is dark. */
async function faultsOf(page: Page, part: string | { include: string; exclude: string }): Promise<string[]> {
  await page.evaluate(axe.source);
  const violations = await page.evaluate(async (looked) => {
    const { run } = (window as unknown as { axe: typeof axe }).axe;
    const { classList } = document.documentElement;
    const light = await run(looked, { resultTypes: ["violations"] });
    classList.add("dark-mode");
    // Colours change over some time.
    for (const animation of document.getAnimations()) animation.finish();
    const dark = await run(looked, { resultTypes: ["violations"], runOnly: ["color-contrast"] });
    classList.remove("dark-mode");
    return [...light.violations, ...dark.violations];
  }, part);
  return violations.flatMap(({ id, nodes }) => nodes.map(({ html }) => `${id}: ${html.slice(0, 200)}`));
}
