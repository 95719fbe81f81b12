import { mkdirSync } from "node:fs";
import { AxeBuilder } from "@axe-core/playwright";
import type { Page } from "playwright-core";
import { describe, expect, test } from "vitest";
import { ORGANIZATION, type DashboardWorld } from "../../support/dashboard/dashboard-world.js";

const SCREENSHOTS = "test/browser/screenshots";
/** Pictures take as long as the checks. */
const IS_LOOKED_AT = process.env["CI"] === undefined;

/** By the name of their pictures. */
const PAGES: readonly (readonly [name: string, path: (world: DashboardWorld) => string])[] = [
  ["overview", () => `/o/${ORGANIZATION}`],
  ["package", () => `/o/${ORGANIZATION}/packages/acme%2Fweb`],
  ["package-filtered", () => `/o/${ORGANIZATION}/packages/tool?country=DE&variable.mirror=eu`],
  ["list", () => `/o/${ORGANIZATION}/packages/tool/all/country`],
  ["pixel", ({ pixel }) => `/o/${ORGANIZATION}/pixels/${pixel}`],
  ["first-steps", ({ unused }) => `/o/${ORGANIZATION}/packages/${unused}`],
  ["cases", () => `/o/${ORGANIZATION}/new`],
  ["new-package", () => `/o/${ORGANIZATION}/new?case=docker`],
  ["empty", () => "/o/ada"],
  ["refused-range", () => `/o/${ORGANIZATION}/packages/tool?startDate=2026-02-30&endDate=2026-03-01`],
  ["companies", () => `/o/${ORGANIZATION}/companies`],
  ["imports", () => `/o/${ORGANIZATION}/imports`],
  ["upload", () => `/o/${ORGANIZATION}/imports/new`],
  ["webhooks", () => `/o/${ORGANIZATION}/webhooks`],
  ["members", () => `/o/${ORGANIZATION}/settings`],
  ["package-settings", ({ files }) => `/o/${ORGANIZATION}/settings/packages/${files}`],
  ["audit", () => `/o/${ORGANIZATION}/settings/audit`],
  ["not-found", () => `/o/${ORGANIZATION}/packages/nothing`],
  ["account", () => "/account"],
];

/** Without a session. */
const OPEN_PAGES: typeof PAGES = [
  ["sign-in", () => "/sign-in"],
  ["used-link", () => "/sign-in/link?key=used"],
];

const WIDTHS = [1280, 390];
const SCHEMES = ["light", "dark"] as const;

export function appearanceSuite(world: () => DashboardWorld): void {
  describe("appearance", () => {
    mkdirSync(SCREENSHOTS, { recursive: true });

    test.each(WIDTHS)(
      "every page is accessible in light and dark, and not wider than the window (%i px)",
      async (width) => {
        const viewport = { width, height: 900 };
        await using window = await world().windowOf("ada", { viewport });
        await using nobody = await world().browser.open({ viewport });
        expect([
          ...(await faultsOfAll(window.page, { world: world(), pages: PAGES, width })),
          ...(await faultsOfAll(nobody.page, { world: world(), pages: OPEN_PAGES, width })),
        ]).toEqual([]);
      },
    );
  });
}

interface Looking {
  world: DashboardWorld;
  pages: typeof PAGES;
  width: number;
}

async function faultsOfAll(page: Page, { world, pages, width }: Looking): Promise<string[]> {
  const found: string[] = [];
  for (const [name, path] of pages) {
    await page.goto(world.at(path(world)));
    for (const colorScheme of SCHEMES) {
      await page.emulateMedia({ colorScheme });
      const file = `${name}-${width}-${colorScheme}.png`;
      if (IS_LOOKED_AT) await page.screenshot({ path: `${SCREENSHOTS}/${file}`, fullPage: true });
      found.push(...(await faultsOf(page, colorScheme)).map((fault) => `${file}: ${fault}`));
    }
  }
  return found;
}

/** Of all that axe checks, only contrast differs between the schemes. */
async function faultsOf(page: Page, scheme: (typeof SCHEMES)[number]): Promise<string[]> {
  // Otherwise axe opens a window for each check, for frames of other sites; the dashboard has none.
  const axe = new AxeBuilder({ page }).setLegacyMode();
  const { violations } = await (scheme === "dark" ? axe.withRules("color-contrast") : axe).analyze();
  const inaccessible = violations.flatMap(({ id, help, nodes }) =>
    nodes.map(({ html, failureSummary }) => `${id}: ${help}: ${html.slice(0, 200)} ${failureSummary ?? ""}`),
  );
  const overflow = await page.evaluate(
    () => document.documentElement.scrollWidth - document.documentElement.clientWidth,
  );
  return overflow > 0 ? [...inaccessible, `${overflow} px wider than the window`] : inaccessible;
}
