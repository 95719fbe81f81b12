import { describe, expect, test } from "vitest";
import type { Page } from "playwright-core";
import type { ApiClient } from "../../../deploy/demo/api-client.js";
import { makePackage, makePixel } from "../../support/imports/make-artifacts.js";
import {
  HOSTILE_ADDRESS,
  ORGANIZATION,
  type DashboardWorld,
} from "../../support/dashboard/dashboard-world.js";

const HOSTILE = [
  `<script>alert(1)</script>`,
  `"><img src=x onerror=alert(1)>`,
  `'; DROP TABLE events; --`,
  `{{constructor.constructor('alert(1)')()}}`,
  `\u202Eright to left \u05E9\u05DC\u05D5\u05DD`,
];

/** Of `HOSTILE_ADDRESS`. */
const COMPANY_NAME = `<script>alert("company")</script>`;

export function hostileSuite(world: () => DashboardWorld): void {
  describe("hostile text", () => {
    test("is shown as text, wherever it comes from", async () => {
      const { api } = world();
      const [name = ""] = HOSTILE;
      const { id } = await makePackage(api, { organization: ORGANIZATION, name, libraryType: "other" });
      const today = new Date().toISOString().slice(0, 10);
      const long = "x".repeat(10_000);
      const lines = [...HOSTILE, long].map((text, index) =>
        JSON.stringify({
          $time: `${today}T00:00:01Z`,
          $unique_id: String(index),
          $remote_address: HOSTILE_ADDRESS,
          $user_agent: `${text}/1.0`,
          $version: text,
          [text.slice(0, 100)]: text,
        }),
      );
      const path = `/v2/packages/${ORGANIZATION}/${id}/import`;
      await api.pollToDone(await api.importBody(path, lines.join("\n")));
      await using window = await world().windowOf("ada");
      const { page } = window;
      const dialogs = countDialogs(page);
      await page.goto(world().at(`/o/${ORGANIZATION}/packages/${encodeURIComponent(name)}`));
      expect(await page.locator("h1").innerText()).toBe(name);
      const content = await page.locator("main").innerText();
      for (const text of [...HOSTILE.slice(0, 4), COMPANY_NAME]) expect(content).toContain(text);
      expect(await page.locator("main script, main img").count()).toBe(0);
      expect(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth)).toBe(true);
      await page.getByRole("table", { name: "variable" }).getByRole("link").first().click();
      await page.waitForURL(/[?&]variable/);
      expect(await page.locator(".chip").count()).toBeGreaterThan(0);
      expect(dialogs()).toBe(0);
    });

    test("that people typed is shown as text on every page that has it", async () => {
      const { api } = world();
      const text = `"'><img src=x onerror=alert(2)><script>alert(3)</script>`;
      const at = `/o/${ORGANIZATION}`;
      const { id } = await makePackage(api, { organization: ORGANIZATION, name: text, libraryType: "npm" });
      await put(api, `/v1/packages/${id}`, { name: text, shortDescription: text, longDescription: text });
      const pixel = await makePixel(api, { owner: ORGANIZATION, name: text });
      const record = { name: ORGANIZATION, description: text, billingEmail: "billing@example.org" };
      await put(api, `/v1/organizations/${ORGANIZATION}`, record);
      await api.post("/v1/user/tokens", { name: text, scopes: ["read"] });
      const view = JSON.stringify({
        $time: new Date().toISOString(),
        $referrer: `https://x.example/${text}`,
      });
      const into = `/v2/pixels/${ORGANIZATION}/${pixel.id}/import?name=${encodeURIComponent(text)}`;
      await api.pollToDone(await api.importBody(into, view));
      await using window = await world().windowOf("ada");
      const { page } = window;
      const dialogs = countDialogs(page);
      for (const path of [
        at,
        `${at}/packages/${id}`,
        `${at}/pixels/${pixel.id}`,
        `${at}/imports`,
        `${at}/imports/new?package=${id}`,
        `${at}/settings/organization`,
        `${at}/settings/packages`,
        `${at}/settings/packages/${id}`,
        `${at}/settings/audit`,
        "/account",
      ]) {
        await page.goto(world().at(path));
        const main = page.locator("main");
        const typed = await main
          .locator("input, textarea, option")
          .evaluateAll((fields) =>
            fields.map((field) => (field as HTMLInputElement).value + (field.textContent ?? "")),
          );
        expect([await main.innerText(), ...typed].join("\n"), path).toContain(text);
        expect(await main.locator("script, img").count(), path).toBe(0);
      }
      expect(dialogs()).toBe(0);
    });

    test("of 10 kB in every field is taken or refused, kept in its field, and no wider than the window", async () => {
      await using window = await world().windowOf("ada", { viewport: { width: 390, height: 900 } });
      const { page } = window;
      const long = "ü'\"<&".repeat(2_000);
      const { image } = world();
      for (const [path, button] of [
        [`/o/${ORGANIZATION}/new?case=docker`, "Create package"],
        [`/o/${ORGANIZATION}/settings/packages/${image}`, "Save"],
        [`/o/${ORGANIZATION}/settings/organization`, "Save"],
        [`/o/${ORGANIZATION}/settings`, "Add member"],
        [`/o/${ORGANIZATION}/webhooks`, "Create webhook"],
      ] as const) {
        await page.goto(world().at(path));
        const form = page.locator("main form", {
          has: page.getByRole("button", { name: button, exact: true }),
          // The form of the badge has no text to fill in.
          hasNot: page.locator("[name=public]"),
        });
        const fields = form.locator("input:not([type=hidden]):not([type=checkbox]), textarea");
        const count = await fields.count();
        expect(count, path).toBeGreaterThan(0);
        // The browser would not send what is no URL or email address.
        await form.evaluate((element: HTMLFormElement) => (element.noValidate = true));
        for (let index = 0; index < count; index += 1) await fields.nth(index).fill(long);
        const [answer] = await Promise.all([
          page.waitForResponse((response) => response.request().method() === "POST"),
          form.getByRole("button", { name: button, exact: true }).click(),
        ]);
        await page.locator(".problem").waitFor();
        expect(answer.status(), path).toBe(422);
        for (let index = 0; index < count; index += 1)
          expect(await fields.nth(index).inputValue(), path).toBe(long);
        expect(await page.locator(".fault").count(), path).toBeGreaterThan(0);
        expect(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth), path).toBe(
          true,
        );
      }
    });
  });
}

function countDialogs(page: Page): () => number {
  let dialogs = 0;
  page.on("dialog", (dialog) => {
    dialogs += 1;
    void dialog.dismiss();
  });
  return () => dialogs;
}

async function put(api: ApiClient, path: string, body: object): Promise<void> {
  const { status } = await api.request(path, { method: "PUT", body: JSON.stringify(body) });
  expect(status, path).toBe(200);
}
