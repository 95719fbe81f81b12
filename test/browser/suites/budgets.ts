import type { Page } from "playwright-core";
import { describe, expect, test } from "vitest";
import { ORGANIZATION, type DashboardWorld } from "../../support/dashboard/dashboard-world.js";

const FIRST_BYTES_MAX = 60_000;
const NEXT_BYTES_MAX = 12_000;
const SCRIPT_BYTES_MAX = 20_000;

export function budgetSuite(world: () => DashboardWorld): void {
  describe("budgets", () => {
    test("a first visit has at most 60 kB, later ones 12 kB, and the script 20 kB", async () => {
      await using window = await world().windowOf("ada");
      const { page } = window;
      const received = bytesOf(page);
      await page.goto(world().at(`/o/${ORGANIZATION}/packages/tool`), { waitUntil: "networkidle" });
      const first = await received();
      expect(first.all).toBeLessThanOrEqual(FIRST_BYTES_MAX);
      expect(first.script).toBeLessThanOrEqual(SCRIPT_BYTES_MAX);
      await page.goto(world().at(`/o/${ORGANIZATION}/packages/acme%2Fweb`), { waitUntil: "networkidle" });
      expect((await received()).all - first.all).toBeLessThanOrEqual(NEXT_BYTES_MAX);
    });
  });
}

/** The bytes of answers' bodies as they came over the wire, since this call. */
function bytesOf(page: Page): () => Promise<{ all: number; script: number }> {
  const sizes: Promise<{ url: string; bytes: number }>[] = [];
  page.on("requestfinished", (request) => {
    const sized = request
      .sizes()
      .then(({ responseBodySize }) => ({ url: request.url(), bytes: responseBodySize }));
    sizes.push(sized);
  });
  return async () => {
    const all = await Promise.all(sizes);
    const sum = (of: typeof all) => of.reduce((total, { bytes }) => total + bytes, 0);
    return { all: sum(all), script: sum(all.filter(({ url }) => url.endsWith(".js"))) };
  };
}
