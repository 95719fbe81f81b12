import type { Page } from "playwright-core";
import { describe, expect, test } from "vitest";
import type { AggregateV1, Breakdown } from "../../../schemas/contracts/aggregate.js";
import { ORGANIZATION, type DashboardWorld } from "../../support/dashboard/dashboard-world.js";
import { bodyOf } from "../../support/dashboard/known-lines.js";
import { panelNamed } from "../../../api/web/statistics/panels.js";
import { readTables, readTiles } from "../../support/dashboard/read-page.js";
import { newestFirst } from "../../../aggregate/statistics/compare-versions.js";

const COUNTRY_NAMES = new Intl.DisplayNames(["en"], { type: "region" });

export function numberSuite(world: () => DashboardWorld): void {
  describe("numbers", () => {
    const range = lastDays(90);

    test("are those of the aggregates, also after a fifth of the events was overridden", async () => {
      const { api, image, lines } = world();
      await using window = await world().windowOf("ada", { javaScriptEnabled: false });
      await using scripted = await world().windowOf("ada");
      await expectEqual(window.page, LABELS);
      await expectEqual(scripted.page, LABELS);
      const changed = lines.slice(0, lines.length / 5).map((line) => ({ ...line, version: "3.0.0" }));
      lines.splice(0, changed.length, ...changed);
      const path = `/v2/packages/${ORGANIZATION}/${image}/import`;
      await api.pollToDone(await api.importBody(path, bodyOf(changed)));
      await expectEqual(window.page, LABELS);
    });

    test("of a package of files are those of the aggregates, with its variables", async () => {
      await using window = await world().windowOf("ada");
      await expectEqual(window.page, [...LABELS.filter(([name]) => name !== "version"), VARIABLES], {
        id: world().files,
        name: "tool",
      });
    });

    async function expectEqual(
      page: Page,
      labels: typeof LABELS,
      of = { id: world().image, name: "acme/web" },
    ): Promise<void> {
      const { api } = world();
      const aggregates = (await api.readAggregates(ORGANIZATION, range)).filter(
        (line) => line.package === of.id,
      );
      const query = new URLSearchParams({ ...range, interval: "day", compare: "none" });
      await page.goto(
        world().at(`/o/${ORGANIZATION}/packages/${encodeURIComponent(of.name)}?${query.toString()}`),
      );
      const tables = await readTables(page);
      const byDay = new Map(
        aggregates.flatMap((line) =>
          line.breakdown === "total" ? [[line.date, [line.total, line.unique_total]]] : [],
        ),
      );
      const shownDays = (tables["Downloads"] ?? []).map(
        ([date, downloads, addresses]) => [date, [numberOf(downloads), numberOf(addresses)]] as const,
      );
      expect(shownDays.filter(([, [downloads]]) => downloads > 0)).toEqual([...byDay]);
      const total = [...byDay.values()].reduce((sum, [day = 0]) => sum + day, 0);
      expect((await readTiles(page))["Downloads"]).toBe(total);
      for (const [breakdown, label] of labels) {
        const shown = (tables[panelNamed(breakdown)?.title ?? ""] ?? []).map(([name, count]) => [
          name,
          Number(count),
        ]);
        expect(shown.length, breakdown).toBeGreaterThan(0);
        expect(shown, breakdown).toEqual(summed(aggregates, { breakdown, label }));
      }
    }

    test("change against the time before as one's own arithmetic says, and without division by nothing", async () => {
      await using window = await world().windowOf("ada", { javaScriptEnabled: false });
      const { page } = window;
      const tilesOf = async (days: { startDate: string; endDate: string }, compare: string) => {
        const query = new URLSearchParams({ ...days, compare });
        await page.goto(world().at(`/o/${ORGANIZATION}/packages/tool?${query.toString()}`));
        return readTiles(page);
      };
      const now = lastDays(30);
      const before = { startDate: shifted(now.startDate, -30), endDate: now.startDate };
      const earlier = await tilesOf(before, "none");
      const shown = await tilesOf(now, "previous");
      const ratio = (shown["Downloads"] ?? 0) / (earlier["Downloads"] ?? 0) - 1;
      const words = await page.locator(".tile .change").first().innerText();
      expect(words).toContain(`${Math.abs(ratio * 100).toFixed(0)} %`);
      expect(await page.locator("path.line.before").count()).toBe(1);
      await tilesOf(now, "year");
      expect(await page.locator(".tile .change").first().innerText()).toBe("new");
      // Where there was nothing, rows and chart do not repeat it.
      expect(await page.locator("path.line.before, table.bars .change").count()).toBe(0);
    });

    test.each([
      ["", "?country=DE&automated=exclude"],
      ["/all/client", "?country=FR&search=docker"],
    ])("of a list are the same as CSV (%s%s)", async (list, query) => {
      await using window = await world().windowOf("ada");
      const { page } = window;
      await page.goto(world().at(`/o/${ORGANIZATION}/packages/tool${list}${query}`));
      const shown = (await readTables(page))["Clients"] ?? [];
      const [header = "", ...rows] = await csvBehind(page, /^Download (clients as )?CSV$/);
      expect(header).toBe("client,client_version,downloads,share,change");
      const listed = rows.map((row) => row.split(","));
      expect(shown.length).toBeGreaterThan(0);
      expect(listed.map(([name, version, count]) => [`${name} ${version}`.trim(), count])).toEqual(
        shown.map(([name, count]) => [name, count]),
      );
    });

    test("of a chart are the same as CSV, beside its pictures", async () => {
      await using window = await world().windowOf("ada");
      const { page, context } = window;
      await page.goto(world().at(`/o/${ORGANIZATION}/packages/tool?interval=week&country=DE`));
      const shown = (await readTables(page))["Downloads"] ?? [];
      await page.getByText("Show as table").first().click();
      const [header, ...rows] = await csvBehind(page, "Download this chart as CSV");
      expect(header).toBe("date,downloads,views,unique_addresses");
      const listed = rows.map((row) => row.split(","));
      expect(listed.map(([date, downloads, , addresses]) => [date, downloads, addresses])).toEqual(
        shown.map(([date, downloads, addresses]) => [
          date,
          String(numberOf(downloads)),
          String(numberOf(addresses)),
        ]),
      );
      const [svg] = await Promise.all([
        page.waitForEvent("download"),
        page.getByRole("button", { name: "Save chart as SVG" }).first().click(),
      ]);
      expect(svg.suggestedFilename()).toMatch(/^tool .*\.svg$/);
      await context.grantPermissions(["clipboard-read", "clipboard-write"]);
      await page.getByRole("button", { name: "Copy chart as PNG" }).first().click();
      await page.getByRole("button", { name: "Copy chart as PNG" }).getByText("Copied").waitFor();
      const types = () => navigator.clipboard.read().then(([copied]) => copied?.types);
      expect(await page.evaluate(types)).toEqual(["image/png"]);
    });
  });
}

const LABELS: readonly (readonly [Breakdown, (line: AggregateV1) => string])[] = [
  ["country", ({ country = "" }) => COUNTRY_NAMES.of(country) ?? ""],
  ["version", ({ version = "" }) => version],
  ["client", ({ client, client_version: version = "" }) => `${client} ${version}`.trim()],
  ["platform", ({ platform = "" }) => platform],
  ["company", ({ company_name: name = "" }) => name],
  ["cloud_provider", ({ cloud_provider_name: name = "" }) => name],
];
const VARIABLES = [
  "variable",
  ({ variable = "", value = "" }: AggregateV1) => `${variable} = ${value}`,
] as const;

function summed(
  lines: readonly AggregateV1[],
  { breakdown, label }: { breakdown: Breakdown; label: (line: AggregateV1) => string },
): [string, number][] {
  const sums = new Map<string, number>();
  for (const line of lines.filter((each) => each.breakdown === breakdown))
    sums.set(label(line), (sums.get(label(line)) ?? 0) + line.total);
  const order =
    breakdown === "version" ? newestFirst("tag") : (one: string, other: string) => (one < other ? -1 : 1);
  return [...sums].sort(([one, a], [other, b]) => b - a || order(one, other)).slice(0, 10);
}

function numberOf(text = ""): number {
  return Number(text.replaceAll(",", ""));
}

function lastDays(days: number): { startDate: string; endDate: string } {
  const tomorrow = new Date(Date.now() + 86_400_000).toISOString().slice(0, 10);
  return { startDate: shifted(tomorrow, -days), endDate: tomorrow };
}

function shifted(date: string, days: number): string {
  return new Date(Date.parse(date) + days * 86_400_000).toISOString().slice(0, 10);
}

/** The lines of the file that a link leads to. */
async function csvBehind(page: Page, name: string | RegExp): Promise<string[]> {
  const [download] = await Promise.all([
    page.waitForEvent("download"),
    page.getByRole("link", { name }).click(),
  ]);
  const parts: Buffer[] = [];
  for await (const part of await download.createReadStream()) parts.push(part as Buffer);
  return Buffer.concat(parts).toString().trimEnd().split("\n");
}
