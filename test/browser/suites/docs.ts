import axe from "axe-core";
import type { Page } from "playwright-core";
import { describe, expect, test } from "vitest";
import { ORGANIZATION, type DashboardWorld } from "../../support/dashboard/dashboard-world.js";

const EXPORT = "#operations-Exports-exportOrganizationAggregates";
/** The document is long, and axe reads all of it. */
const TIMEOUT_MS = 120_000;

export function docsSuite(world: () => DashboardWorld): void {
  describe("the page of the API", () => {
    test.each(["light", "dark"] as const)(
      "is accessible in a %s browser, and keeps the token while it tries out an export of lines",
      { timeout: TIMEOUT_MS },
      async (colorScheme) => {
        await using window = await world().browser.open({ colorScheme });
        const { page } = window;
        await open(page, world());
        expect(await page.locator("#servers").inputValue()).toBe(world().api.url.replace(/\/$/, ""));
        expect(await page.locator(".opblock-tag").first().innerText()).toBe("Packages");
        expect(await page.locator("html").evaluate(({ classList }) => classList.contains("dark-mode"))).toBe(
          colorScheme === "dark",
        );
        expect(await faultsOf(page)).toEqual([]);
        await authorize(page, world().api.token);
        await page.reload();
        const answer = await tryOut(page);
        expect(answer).toContain('{"breakdown":"total","date":"');
        expect(answer).not.toContain("can't parse JSON");
        expect(await faultsOf(page)).toEqual([]);
      },
    );
  });
}

async function open(page: Page, { api }: DashboardWorld): Promise<void> {
  await page.goto(new URL("/docs", api.url).href);
  await page.locator(".opblock").first().waitFor();
}

async function authorize(page: Page, token: string): Promise<void> {
  await page.click(".btn.authorize");
  await page.fill(".auth-container input", token);
  expect(await faultsOf(page)).toEqual([]);
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

function daysAgo(days: number): string {
  return new Date(Date.now() - days * 86_400_000).toISOString().slice(0, 10);
}

async function faultsOf(page: Page): Promise<string[]> {
  await page.evaluate(axe.source);
  const violations = await page.evaluate(
    async () =>
      (await (window as unknown as { axe: typeof axe }).axe.run({ resultTypes: ["violations"] })).violations,
  );
  return violations.flatMap(({ id, nodes }) => nodes.map(({ html }) => `${id}: ${html.slice(0, 200)}`));
}
