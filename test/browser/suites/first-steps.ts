import { describe, expect, test } from "vitest";
import { ORGANIZATION, type DashboardWorld } from "../../support/dashboard/dashboard-world.js";
import { bodyOf, knownLines } from "../../support/dashboard/known-lines.js";

export function firstStepsSuite(world: () => DashboardWorld): void {
  describe("first steps", () => {
    test("a case leads to a package and lines that work, and its first event turns them into the chart", async () => {
      await using window = await world().windowOf("ada");
      const { page } = window;
      await page.goto(world().at(`/o/${ORGANIZATION}/new`));
      await page.getByRole("link", { name: /^Files/ }).click();
      await page.getByRole("textbox", { name: "Name" }).fill("first");
      await page.getByRole("button", { name: /^Create/ }).click();
      await page.getByText("Waiting for your first event").waitFor();
      await page.getByRole("link", { name: "Access logs" }).click();
      const lines = await page.getByRole("group", { name: "Import the file" }).innerText();
      const [address = ""] = /http\S+\/import/.exec(lines) ?? [];
      expect(address.startsWith(world().toolchain.api)).toBe(true);
      const body = bodyOf(knownLines({ count: 5, seed: 3, days: 3, now: new Date() }));
      const { api } = world();
      await api.pollToDone(await api.importBody(new URL(address).pathname, body));
      await page.locator("svg.plot").first().waitFor();
    });

    test("a package that is refused keeps what was typed, with the fault beside its field", async () => {
      await using window = await world().windowOf("ada", { javaScriptEnabled: false });
      const { page } = window;
      await page.goto(world().at(`/o/${ORGANIZATION}/new?case=docker`));
      await page.getByRole("textbox", { name: "Name" }).fill("twice");
      await page
        .getByRole("textbox", { name: "Image URL in your registry" })
        .fill("https://registry.example.org");
      await page.getByRole("button", { name: /^Create/ }).click();
      const field = page.getByRole("textbox", { name: "Image URL in your registry" });
      expect(await page.getByRole("textbox", { name: "Name" }).inputValue()).toBe("twice");
      expect(await field.getAttribute("aria-invalid")).toBe("true");
      expect(await page.locator(".field .fault").innerText()).toContain("path component");
    });
  });
}
