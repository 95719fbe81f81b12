import { gzipSync } from "node:zlib";
import type { Page } from "playwright-core";
import { beforeAll, describe, expect, test } from "vitest";
import type { EventImport } from "../../../schemas/records/import-store.js";
import { ORGANIZATION, type DashboardWorld } from "../../support/dashboard/dashboard-world.js";
import { makePackage } from "../../support/imports/make-artifacts.js";

const LINE = JSON.stringify({ $time: new Date().toISOString() });
const REFUSED = ["no JSON", `<img src=x onerror="alert(1)">`] as const;

export function uploadSuite(world: () => DashboardWorld): void {
  describe("an upload", () => {
    let upload: string;

    beforeAll(async () => {
      const { api } = world();
      const made = { organization: ORGANIZATION, name: "uploads", libraryType: "other" } as const;
      const { id } = await makePackage(api, made);
      upload = world().at(`/o/${ORGANIZATION}/imports/new?package=${id}`);
    });

    test("of a file that was dropped is checked first, then packed, sent and shown until it is done", async () => {
      await using window = await world().windowOf("ada");
      const { page } = window;
      await page.goto(upload);
      await drop(page, [LINE, ...REFUSED, LINE].join("\n"));
      await page.getByText("All 4 lines: 2 are good, 2 would be refused.").waitFor();
      await page.getByText("Line 2: Not a valid JSON object").waitFor();
      await page.getByRole("button", { name: /^Import \d/ }).click();
      await page.getByRole("heading", { name: "Import into uploads Done" }).waitFor();
      expect(await page.getByRole("cell", { name: REFUSED[1] }).innerText()).toBe(REFUSED[1]);
      const [file] = await Promise.all([
        page.waitForEvent("download"),
        page.getByRole("link", { name: "Download refused lines" }).click(),
      ]);
      const parts: Buffer[] = [];
      for await (const part of await file.createReadStream()) parts.push(part as Buffer);
      expect(Buffer.concat(parts).toString()).toBe(`${REFUSED.join("\n")}\n`);
    });

    test("of a packed file is sent as it is, and its bar reaches the end", async () => {
      await using window = await world().windowOf("ada");
      const { page } = window;
      const packed = gzipSync(`${LINE}\n`.repeat(50_000));
      await page.goto(upload);
      const file = { name: "events.ndjson.gz", mimeType: "application/gzip", buffer: packed };
      await page.getByLabel("File of events").setInputFiles(file);
      await page.getByText("The first 1,000 lines are good.").waitFor();
      await page.getByRole("button", { name: /^Import \d/ }).click();
      await page.getByRole("heading", { name: "Import into uploads Done" }).waitFor();
      const id = new URL(page.url()).pathname.split("/").at(-1) ?? "";
      expect(await world().api.get<EventImport>(`/v2/imports/${ORGANIZATION}/${id}`)).toMatchObject({
        bytes: packed.length,
        lines_received: 50_000,
        events_successfully_imported: 50_000,
      });
    });

    test("without script is shown as a line for the shell", async () => {
      await using window = await world().windowOf("ada", { javaScriptEnabled: false });
      const { page } = window;
      await page.goto(upload);
      expect(await page.getByLabel("File of events").isVisible()).toBe(false);
      expect(await page.getByRole("group", { name: "The import by curl" }).innerText()).toContain("/import'");
    });
  });
}

async function drop(page: Page, text: string): Promise<void> {
  const dataTransfer = await page.evaluateHandle((content) => {
    const data = new DataTransfer();
    data.items.add(new File([content], "events.ndjson"));
    return data;
  }, text);
  const target = page.locator("[data-upload-drop]");
  // It shows once its script is loaded; before that nothing would take the file.
  await target.waitFor();
  await target.dispatchEvent("drop", { dataTransfer });
}
