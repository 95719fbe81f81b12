import type { Page } from "playwright-core";
import { describe, expect, test } from "vitest";
import { readTiles } from "../../support/dashboard/read-page.js";
import { ORGANIZATION, type DashboardWorld } from "../../support/dashboard/dashboard-world.js";
import type { Statistics } from "../../../schemas/contracts/statistics.js";
import { startPrefixProxy } from "../../support/dashboard/prefix-proxy.js";

export function reachSuite(world: () => DashboardWorld): void {
  describe("reaching pages", () => {
    test.each([{ javaScriptEnabled: true }, { javaScriptEnabled: false }])(
      "the root leads to sign-in, and sign-in to the page that was wanted (%o)",
      async (options) => {
        await using window = await world().browser.open(options);
        const { page } = window;
        await page.goto(world().toolchain.api);
        expect(new URL(page.url()).pathname).toBe("/dashboard/sign-in");
        await page.goto(world().at(`/o/${ORGANIZATION}/packages/tool?compare=year`));
        expect(new URL(page.url()).pathname).toBe("/dashboard/sign-in");
        await signInAs(page, "ada", world().api.token);
        expect(page.url()).toBe(world().at(`/o/${ORGANIZATION}/packages/tool?compare=year`));
      },
    );

    test("a member sees numbers, and neither settings of packages nor exports", async () => {
      await using window = await world().windowOf("bob");
      const { page } = window;
      await page.goto(world().at(`/o/${ORGANIZATION}/packages/tool`));
      expect(await page.locator("data.figure").first().textContent()).toMatch(/\d/);
      expect(await page.getByRole("link", { name: /CSV/ }).count()).toBe(0);
      expect(await page.getByRole("link", { name: /Import|Webhooks/ }).count()).toBe(0);
    });

    test("somebody who is blocked from a package finds it in no list and in no sum", async () => {
      const { api, files } = world();
      const level = (permissionLevel: string) =>
        api.request(`/v1/packages/${files}/permissions`, {
          method: "POST",
          body: JSON.stringify({ userQuery: "bob", permissionLevel }),
        });
      await using window = await world().windowOf("bob");
      const { page } = window;
      const overview = async () => {
        await page.goto(world().at(`/o/${ORGANIZATION}`));
        const { Downloads: downloads = 0 } = await readTiles(page);
        return { downloads, names: await page.getByRole("link", { name: "tool", exact: true }).count() };
      };
      const all = await overview();
      const { totals } = await api.get<Statistics>(`/v2/${ORGANIZATION}/stats?package=tool`);
      await level("blocked");
      const seen = await overview();
      const answer = await page.goto(world().at(`/o/${ORGANIZATION}/packages/tool`));
      await level("default");
      expect(totals.downloads).toBeGreaterThan(0);
      expect(all.names).toBeGreaterThan(0);
      expect(seen).toEqual({ downloads: all.downloads - totals.downloads, names: 0 });
      expect(answer?.status()).toBe(404);
    });

    test("a browser in another zone and language shows the same days and times", async () => {
      const textIn = async (options: { timezoneId: string; locale: string }) => {
        await using window = await world().windowOf("ada", options);
        const { page } = window;
        await page.goto(world().at(`/o/${ORGANIZATION}/imports`));
        const imports = (await page.locator("main").innerText()).replace(/just now|\d+ \w+ ago/g, "");
        const [exact = ""] = ((await page.locator("time").first().getAttribute("title")) ?? "").split("\n");
        await page.goto(world().at(`/o/${ORGANIZATION}/packages/tool`));
        await page.locator(".pointed").first().focus();
        await page.keyboard.press("End");
        const numbers = await page.locator("main").innerText();
        // The time of the answer itself.
        return [exact, imports, numbers.replace(/Data as of \d\d:\d\d/, "")];
      };
      const here = await textIn({ timezoneId: "UTC", locale: "en-US" });
      expect(here[0]).toMatch(/\d\d:\d\d UTC/);
      expect(await textIn({ timezoneId: "Pacific/Kiritimati", locale: "de-DE" })).toEqual(here);
    });

    test("an outsider gets the same 404 for what there is and for what there is not", async () => {
      await using window = await world().windowOf("eve");
      const { page } = window;
      const textAt = async (path: string) => {
        const answer = await page.goto(world().at(path));
        return { status: answer?.status(), text: await page.locator("main").innerText() };
      };
      const hidden = await textAt(`/o/${ORGANIZATION}/packages/tool`);
      expect(hidden.status).toBe(404);
      expect(await textAt(`/o/${ORGANIZATION}/packages/nothing`)).toEqual(hidden);
      expect((await textAt(`/o/${ORGANIZATION}`)).status).toBe(404);
    });

    test("works below a path prefix behind a proxy", async () => {
      await using proxy = await startPrefixProxy({ to: world().toolchain.api, prefix: "/tools" });
      await using window = await world().browser.open();
      const { page } = window;
      const requested: string[] = [];
      page.on("request", (request) => requested.push(new URL(request.url()).pathname));
      await page.goto(`${proxy.url}/tools/dashboard/o/${ORGANIZATION}/packages/tool`);
      await signInAs(page, "ada", world().api.token);
      await page.locator("table.bars a").first().click();
      await page.waitForURL(/country=/);
      expect(requested.filter((path) => !path.startsWith("/tools/"))).toEqual([]);
      const links = await page
        .locator("a[href], form[action]")
        .evaluateAll((all) =>
          all.map((each) => each.getAttribute("href") ?? each.getAttribute("action") ?? ""),
        );
      expect(links.filter((link) => !/^(\/tools\/|#)/.test(link))).toEqual([]);
    });
  });
}

async function signInAs(page: Page, username: string, token: string): Promise<void> {
  await page.getByRole("textbox", { name: "Username" }).fill(username);
  await page.getByLabel("Password or API token").fill(token);
  await page.getByRole("button", { name: "Sign in" }).click();
  await page.waitForURL((url) => !url.pathname.endsWith("/sign-in"));
}
