import { describe, expect, test } from "vitest";
import type { EventImport } from "../../../schemas/records/import-store.js";
import { COMPANY, ORGANIZATION, type DashboardWorld } from "../../support/dashboard/dashboard-world.js";
import { serveWithoutClickHouse } from "../../support/dashboard/without-clickhouse.js";
import { startUpload } from "../../support/imports/start-upload.js";

export function awaySuite(world: () => DashboardWorld): void {
  describe("while ClickHouse is away", () => {
    test("pages of numbers say so in their frame, and the bar of an import goes on", async () => {
      const { api, files, toolchain, browser } = world();
      await using service = await serveWithoutClickHouse(toolchain.dataDir);
      await using window = await browser.open();
      const { page, context } = window;
      await service.signIn(context, "ada");
      for (const path of [`/o/${ORGANIZATION}/packages/tool`, `/o/${ORGANIZATION}/companies/${COMPANY}`]) {
        const answer = await page.goto(`${service.url}/dashboard${path}`);
        expect(answer?.status()).toBe(503);
        expect(await page.locator("main").innerText()).toContain("The database is temporarily unavailable.");
        expect(await page.getByRole("navigation").first().innerText()).toContain("Imports");
      }
      const into = { owner: ORGANIZATION, path: `/v2/packages/${ORGANIZATION}/${files}/import` };
      const { upload, started } = await startUpload(api, into);
      const answer = await page.goto(`${service.url}/dashboard/o/${ORGANIZATION}/imports/${started.id}`);
      expect(answer?.status()).toBe(200);
      await page.getByText("The import log is temporarily unavailable.").waitFor();
      const bar = page.getByRole("progressbar");
      await upload.send(`${'{"$time": "2026-11-01"}\n'.repeat(40_000)}`);
      await expect.poll(() => bar.getAttribute("max").then(Number)).toBeGreaterThan(1);
      upload.breakOff();
      const ended = () => api.get<EventImport>(`/v2/imports/${ORGANIZATION}/${started.id}`);
      await expect.poll(async () => (await ended()).status).toBe("aborted");
    });
  });

  describe("once a session is over", () => {
    test.each([true, false])("a reload sends what was typed (script: %s)", async (javaScriptEnabled) => {
      const dashboard = world();
      await using window = await dashboard.windowOf("ada", { javaScriptEnabled });
      const { page, context } = window;
      await page.goto(dashboard.at(`/o/${ORGANIZATION}/settings/organization`));
      const description = `Typed before, with script ${javaScriptEnabled}`;
      await page.getByLabel("Description").fill(description);
      await context.clearCookies();
      await page.getByRole("button", { name: "Save" }).click();
      const opened = context.waitForEvent("page");
      await page.getByRole("link", { name: "Sign in (opens a new tab)" }).click();
      const tab = await opened;
      await tab.getByLabel("Username").fill("ada");
      await tab.getByLabel("Password or API token").fill(dashboard.api.token);
      await tab.getByRole("button", { name: "Sign in" }).click();
      await tab.waitForURL(/\/dashboard(\/o\/|$)/);
      await page.reload();
      await page.getByText("Organization saved.").waitFor();
      expect(await page.getByLabel("Description").inputValue()).toBe(description);
    });
  });
}
