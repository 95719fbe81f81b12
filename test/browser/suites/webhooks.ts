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
      expect(await page.getByRole("group", { name: "Secret" }).innerText()).toMatch(/^whsec_/);
      await page.getByRole("link", { name: "Send test event" }).click();
      await page.getByRole("button", { name: "Send test event" }).click();
      await page.getByText("Test event delivered").waitFor();
      expect(receiver.received).toHaveLength(1);
      await page.getByRole("button", { name: "Disable webhook" }).click();
      await page.getByText("Webhook disabled.").waitFor();
      await page.getByRole("button", { name: "Enable webhook" }).click();
      await page.getByText("Webhook enabled.").waitFor();
      expect(await page.content()).not.toContain("whsec_");
      await page.locator("details.entry > summary").first().click();
      await page.getByRole("button", { name: "Retry delivery" }).click();
      await expect.poll(() => receiver.received.length).toBe(2);
      await page.locator("summary", { hasText: "Delete webhook" }).click();
      await page.getByRole("button", { name: "Delete webhook" }).click();
      await page.getByText("Webhook and its delivery log deleted.").waitFor();
    });
  });
}
