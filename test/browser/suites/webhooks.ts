import { describe, expect, test } from "vitest";
import { openReceiver } from "../../support/api/receivers.js";
import { ORGANIZATION, type DashboardWorld } from "../../support/dashboard/dashboard-world.js";

export function webhookSuite(world: () => DashboardWorld): void {
  describe("a webhook", () => {
    test.each([true, false])("is made, tested, turned off and on (script: %s)", async (javaScriptEnabled) => {
      await using receiver = await openReceiver();
      await using window = await world().windowOf("ada", { javaScriptEnabled });
      const { page } = window;
      await page.goto(world().at(`/o/${ORGANIZATION}/webhooks`));
      await page.getByRole("textbox", { name: "URL" }).fill(receiver.url);
      await page.getByRole("button", { name: "Create webhook" }).click();
      expect(await page.getByRole("group", { name: "The secret" }).innerText()).toMatch(/^whsec_/);
      await page.getByRole("link", { name: "Test it" }).click();
      await page.getByRole("button", { name: "Send a test" }).click();
      await page.getByText("The test was delivered").waitFor();
      expect(receiver.received).toHaveLength(1);
      await page.getByRole("button", { name: "Turn off" }).click();
      await page.getByText("The webhook is off.").waitFor();
      await page.getByRole("button", { name: "Turn on" }).click();
      await page.getByText("The webhook is on.").waitFor();
      expect(await page.content()).not.toContain("whsec_");
      await page.locator("details.entry > summary").first().click();
      await page.getByRole("button", { name: "Send again" }).click();
      await expect.poll(() => receiver.received.length).toBe(2);
      await page.locator("summary", { hasText: "Delete this webhook" }).click();
      await page.getByRole("button", { name: "Delete this webhook" }).click();
      await page.getByText("were deleted").waitFor();
    });
  });
}
