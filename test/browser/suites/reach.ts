import { describe, expect, test } from "vitest";
import { ORGANIZATION, type DashboardWorld } from "../../support/dashboard/dashboard-world.js";
import { startPrefixProxy } from "../../support/dashboard/prefix-proxy.js";

export function reachSuite(world: () => DashboardWorld): void {
  describe("reaching pages", () => {
    test.each([{ javaScriptEnabled: true }, { javaScriptEnabled: false }])(
      "the root leads to sign-in, and a page behind it to the page (%o)",
      async (options) => {
        await using window = await world().browser.open(options);
        const { page } = window;
        await page.goto(world().toolchain.api);
        expect(new URL(page.url()).pathname).toBe("/dashboard/sign-in");
        await page.goto(world().at(`/o/${ORGANIZATION}/packages/tool?compare=year`));
        const { pathname, searchParams } = new URL(page.url());
        expect(pathname).toBe("/dashboard/sign-in");
        expect(searchParams.get("to")).toBe(`/dashboard/o/${ORGANIZATION}/packages/tool?compare=year`);
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
      await using window = await world().windowOf("ada", { base: `${proxy.url}/tools` });
      const { page } = window;
      const requested: string[] = [];
      page.on("request", (request) => requested.push(new URL(request.url()).pathname));
      await page.goto(`${proxy.url}/tools/dashboard/o/${ORGANIZATION}/packages/tool`);
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
