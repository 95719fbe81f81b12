import { mkdirSync } from "node:fs";
import axe from "axe-core";
import type { Page } from "playwright-core";
import { describe, expect, test } from "vitest";
import { COMPANY, ORGANIZATION, type DashboardWorld } from "../../support/dashboard/dashboard-world.js";

const SCREENSHOTS = "test/browser/screenshots";
/** Pictures take as long as the checks. */
const IS_LOOKED_AT = process.env["CI"] === undefined;

/** By the name of their pictures: below `/dashboard`, or whole addresses. */
type Pages = readonly (readonly [name: string, path: (world: DashboardWorld) => string])[];

/** More filters than a page shows unfolded. */
const COUNTRIES = ["DE", "FR", "US", "GB", "JP", "CN", "IN", "CA", "BR"]
  .map((code) => `country=${code}`)
  .join("&");

const PAGES: Pages = [
  ["overview", () => `/o/${ORGANIZATION}`],
  ["package", () => `/o/${ORGANIZATION}/packages/acme%2Fweb`],
  ["package-filtered", () => `/o/${ORGANIZATION}/packages/tool?country=DE&variable.mirror=eu`],
  ["list", () => `/o/${ORGANIZATION}/packages/tool/all/country`],
  ["owner-list", () => `/o/${ORGANIZATION}/all/country?${COUNTRIES}`],
  ["pixel", ({ pixel }) => `/o/${ORGANIZATION}/pixels/${pixel}`],
  ["pixel-list", ({ pixel }) => `/o/${ORGANIZATION}/pixels/${pixel}/all/page`],
  ["first-steps", ({ unused }) => `/o/${ORGANIZATION}/packages/${unused}`],
  ["cases", () => `/o/${ORGANIZATION}/new`],
  ["new-package", () => `/o/${ORGANIZATION}/new?case=docker`],
  ["empty", () => "/o/ada"],
  ["refused-range", () => `/o/${ORGANIZATION}/packages/tool?startDate=2026-02-30&endDate=2026-03-01`],
  ["live", () => `/o/${ORGANIZATION}/live`],
  ["companies", () => `/o/${ORGANIZATION}/companies`],
  ["company", () => `/o/${ORGANIZATION}/companies/${COMPANY}`],
  ["imports", () => `/o/${ORGANIZATION}/imports`],
  ["import", ({ imported }) => `/o/${ORGANIZATION}/imports/${imported}`],
  ["upload", () => `/o/${ORGANIZATION}/imports/new`],
  ["webhooks", () => `/o/${ORGANIZATION}/webhooks`],
  ["webhook", ({ webhook }) => `/o/${ORGANIZATION}/webhooks/${webhook}`],
  ["members", () => `/o/${ORGANIZATION}/settings`],
  ["organization", () => `/o/${ORGANIZATION}/settings/organization`],
  ["packages", () => `/o/${ORGANIZATION}/settings/packages`],
  ["package-settings", ({ files }) => `/o/${ORGANIZATION}/settings/packages/${files}`],
  ["notifications", () => `/o/${ORGANIZATION}/settings/notifications`],
  ["audit", () => `/o/${ORGANIZATION}/settings/audit`],
  ["search", () => "/search?q=tool"],
  ["not-found", () => `/o/${ORGANIZATION}/packages/nothing`],
  ["account", () => "/account"],
];

/** Without a session. */
const OPEN_PAGES: Pages = [
  ["public", ({ toolchain }) => `${toolchain.api}/p/${ORGANIZATION}/tool`],
  ["guide", ({ toolchain }) => `${toolchain.api}/docs/guide/cases`],
  ["sign-in", () => "/sign-in"],
  ["link", () => "/sign-in/link"],
];

interface Shown {
  signedIn: Pages;
  open: Pages;
}

export const EVERY_PAGE: Shown = { signedIn: PAGES, open: OPEN_PAGES };

const NAMES_OF_MOST_SEEN = ["overview", "package", "companies", "upload", "sign-in"];
const mostSeen = (pages: Pages) => pages.filter(([name]) => NAMES_OF_MOST_SEEN.includes(name));

export const MOST_SEEN: Shown = { signedIn: mostSeen(PAGES), open: mostSeen(OPEN_PAGES) };

/** The pages that are about a refusal. */
const REFUSED = new Set(["refused-range", "not-found"]);

interface Look {
  width: number;
  colorScheme: "light" | "dark";
}

/** Each width and each scheme once: what a page lacks shows in one of them. */
const CHECKED: readonly Look[] = [
  { width: 1280, colorScheme: "light" },
  { width: 390, colorScheme: "dark" },
];
/** Only pictures are made of them. */
const PICTURED: readonly Look[] = [
  { width: 1280, colorScheme: "dark" },
  { width: 390, colorScheme: "light" },
];

export function appearanceSuite(world: () => DashboardWorld, { signedIn, open }: Shown): void {
  describe("appearance", () => {
    mkdirSync(SCREENSHOTS, { recursive: true });

    test("each page is accessible in light and dark, and not wider than 1280 and 390 px", async () => {
      await using window = await world().windowOf("ada");
      await using nobody = await world().browser.open();
      expect([
        ...(await faultsOfAll(window.page, { world: world(), pages: signedIn })),
        ...(await faultsOfAll(nobody.page, { world: world(), pages: open })),
      ]).toEqual([]);
    });

    test("the audit log breaks no name of who did something", async () => {
      await using window = await world().windowOf("ada");
      await window.page.setViewportSize({ width: 1280, height: 900 });
      await window.page.goto(world().at(`/o/${ORGANIZATION}/settings/audit`));
      const operator = window.page.getByRole("cell", { name: "(operator)" }).first();
      expect(await operator.evaluate(linesOf)).toBe(1);
    });
  });
}

interface Looking {
  world: DashboardWorld;
  pages: Pages;
}

async function faultsOfAll(page: Page, { world, pages }: Looking): Promise<string[]> {
  const found: string[] = [];
  for (const [name, path] of pages) {
    const address = path(world);
    const answer = await page.goto(address.startsWith("/") ? world.at(address) : address);
    if (answer?.ok() === REFUSED.has(name)) found.push(`${name}: status ${answer.status()}`);
    await page.evaluate(axe.source);
    for (const look of CHECKED) {
      await show(page, look);
      found.push(...(await faultsOf(page, look)).map((fault) => `${fileOf(name, look)}: ${fault}`));
    }
    if (IS_LOOKED_AT) await takePictures(page, name);
  }
  return found;
}

async function show(page: Page, { width, colorScheme }: Look): Promise<void> {
  await page.setViewportSize({ width, height: 900 });
  await page.emulateMedia({ colorScheme });
}

const fileOf = (name: string, { width, colorScheme }: Look) => `${name}-${width}-${colorScheme}.png`;

async function takePictures(page: Page, name: string): Promise<void> {
  for (const look of [...CHECKED, ...PICTURED]) {
    await show(page, look);
    await page.screenshot({ path: `${SCREENSHOTS}/${fileOf(name, look)}`, fullPage: true });
  }
}

/** Of axe, the rules whose answer another width or scheme can change. The others look at elements and their names. */
const OF_LOOK = ["color-contrast", "link-in-text-block", "scrollable-region-focusable", "target-size"];

async function faultsOf(page: Page, look: Look): Promise<string[]> {
  const rules = look === CHECKED[0] ? undefined : { type: "rule" as const, values: OF_LOOK };
  const violations = await page.evaluate(
    async (runOnly) =>
      (
        await (window as unknown as { axe: typeof axe }).axe.run({
          resultTypes: ["violations"],
          ...(runOnly && { runOnly }),
        })
      ).violations,
    rules,
  );
  const inaccessible = violations.flatMap(({ id, help, nodes }) =>
    nodes.map(({ html, failureSummary }) => `${id}: ${help}: ${html.slice(0, 200)} ${failureSummary ?? ""}`),
  );
  const overflow = await page.evaluate(
    () => document.documentElement.scrollWidth - document.documentElement.clientWidth,
  );
  const tooWide = overflow > 0 ? [`${overflow} px wider than the window`] : [];
  return [...inaccessible, ...tooWide, ...(await page.evaluate(cutTables))];
}

/** A number whose last digits are beyond an edge reads as another number. Folded tables and those of words may be scrolled. */
function cutTables(): string[] {
  return [...document.querySelectorAll<HTMLTableElement>("table:has(td.number)")]
    .filter((table) => table.closest("details:not([open])") === null)
    .filter((table) => table.scrollWidth > (table.parentElement?.clientWidth ?? 0))
    .map((table) => `the table ${table.caption?.textContent ?? ""} is cut off`);
}

/** Over how many lines its text goes. */
function linesOf(cell: Element): number {
  const range = document.createRange();
  range.selectNodeContents(cell.firstElementChild ?? cell);
  return new Set([...range.getClientRects()].map(({ top }) => top)).size;
}
