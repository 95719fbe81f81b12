import { gzipSync } from "node:zlib";
import type { Page } from "playwright-core";
import { beforeAll, describe, expect, test } from "vitest";
import { pause } from "../../../schemas/async/pause.js";
import type { EventImport } from "../../../schemas/records/import-store.js";
import { ORGANIZATION, type DashboardWorld } from "../../support/dashboard/dashboard-world.js";
import { makePackage } from "../../support/imports/make-artifacts.js";
import { startUpload } from "../../support/imports/start-upload.js";

const LINE = JSON.stringify({ $time: new Date().toISOString() });
const REFUSED = ["no JSON", `<img src=x onerror="alert(1)">`] as const;

export function uploadSuite(world: () => DashboardWorld): void {
  describe("an upload", () => {
    let upload: string;
    /** The package's id. */
    let into: string;

    beforeAll(async () => {
      const { api } = world();
      const made = { organization: ORGANIZATION, name: "uploads", libraryType: "other" } as const;
      into = (await makePackage(api, made)).id;
      upload = world().at(`/o/${ORGANIZATION}/imports/new?package=${into}`);
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

    test("of a packed file, chosen before the script was there, is sent as it is", async () => {
      await using window = await world().windowOf("ada");
      const { page } = window;
      const packed = gzipSync(`${LINE}\n`.repeat(50_000));
      const chosen = new AbortController();
      await page.route("**/*.js", async (route) => {
        await pause(30_000, { signal: chosen.signal });
        await route.continue();
      });
      await page.goto(upload, { waitUntil: "commit" });
      const file = { name: "events.ndjson.gz", mimeType: "application/gzip", buffer: packed };
      await page.getByLabel("File of events").setInputFiles(file);
      chosen.abort();
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

    test("of an access log is not sent as it is, and the page has the line that imports it", async () => {
      await using window = await world().windowOf("ada");
      const { page } = window;
      await page.goto(upload);
      await drop(
        page,
        `203.0.113.9 - - [31/Oct/2026:13:55:36 +0100] "GET /tool.tgz HTTP/1.1" 200 9 "-" "curl/8"\n`,
      );
      await page.getByText("This is an access log.").waitFor();
      expect(await page.getByRole("button", { name: /^Import/ }).isDisabled()).toBe(true);
      const line = await page.getByRole("group", { name: "The import of an access log" }).innerText();
      expect(line).toContain(`--to ${ORGANIZATION}/${into} --url '${world().toolchain.api}'`);
    });

    test("moves the bar of its page while it goes on, and is stopped there", async () => {
      const { api } = world();
      await using window = await world().windowOf("ada");
      const { page } = window;
      const { upload: sending, started } = await startUpload(api, {
        owner: ORGANIZATION,
        path: `/v2/packages/${ORGANIZATION}/${into}/import`,
      });
      await page.goto(world().at(`/o/${ORGANIZATION}/imports/${started.id}`));
      const bar = page.getByRole("progressbar", { name: "Lines enriched" });
      const valueAbove = async (least: number) => {
        await sending.send(`${LINE}\n`.repeat(40_000));
        const value = () => bar.evaluate((shown: HTMLProgressElement) => shown.value);
        await expect.poll(value).toBeGreaterThan(least);
        return value();
      };
      await valueAbove(await valueAbove(1));
      await page.locator("summary", { hasText: "Stop this import" }).click();
      await page.getByRole("button", { name: "Stop this import" }).click();
      await page.getByText("The import was stopped.").waitFor();
      await page.getByRole("heading", { name: "Import into uploads Aborted" }).waitFor();
      expect(await api.get(`/v2/imports/${ORGANIZATION}/${started.id}`)).toMatchObject({ status: "aborted" });
      sending.breakOff();
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
