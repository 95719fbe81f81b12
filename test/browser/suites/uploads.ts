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

const LOGGED = '203.0.113.9 - - [31/Oct/2026:13:55:36 +0100] "GET /tool-1.2.tgz HTTP/1.1" 200 9 "-" "curl/8"';

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
      await page.getByText("2 events found in 4 lines. 2 lines will be rejected.").waitFor();
      await page.getByText("Line 2: Not a valid JSON object").waitFor();
      await page.getByRole("button", { name: /^Import \d/ }).click();
      await page.getByRole("heading", { name: "Import into uploads Done" }).waitFor();
      await page.getByText("events.ndjson. Started by").waitFor();
      expect(await page.getByRole("cell", { name: REFUSED[1] }).innerText()).toBe(REFUSED[1]);
      const [file] = await Promise.all([
        page.waitForEvent("download"),
        page.getByRole("link", { name: "Download rejected lines" }).click(),
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
      await page.getByLabel("File", { exact: true }).setInputFiles(file);
      chosen.abort();
      await page.getByText("1,000 events found in the first 1,000 lines.").waitFor();
      await page.getByRole("button", { name: /^Import \d/ }).click();
      await page.getByRole("heading", { name: "Import into uploads Done" }).waitFor();
      const id = new URL(page.url()).pathname.split("/").at(-1) ?? "";
      expect(await world().api.get<EventImport>(`/v2/imports/${ORGANIZATION}/${id}`)).toMatchObject({
        bytes: packed.length,
        lines_received: 50_000,
        events_successfully_imported: 50_000,
      });
    });

    test("of an access log is recognised, shows what its path captures, and is imported as it is", async () => {
      await using window = await world().windowOf("ada");
      const { page } = window;
      await page.goto(upload);
      const path = page.getByLabel("Download path");
      await path.waitFor({ state: "hidden" });
      await drop(page, `${LOGGED}\n${LOGGED.replace("GET", "HEAD")}\nno line of it\n`);
      await page
        .getByText(
          "1 event found in 3 lines. 1 line will be rejected. 1 line contains no event and will be skipped.",
        )
        .waitFor();
      expect(await page.getByLabel("Format").inputValue()).toBe("combined");
      await page.getByRole("cell", { name: "file=/tool-1.2.tgz" }).waitFor();
      await path.fill("/tool-{version}.tgz");
      await page.getByRole("cell", { name: "version=1.2", exact: true }).waitFor();
      await path.fill("/other-{version}.tgz");
      await page
        .getByText(
          "No events found in 3 lines. 1 line will be rejected. 2 lines contain no event and will be skipped.",
        )
        .waitFor();
      expect(await page.getByRole("button", { name: /^Import/ }).isDisabled()).toBe(true);
      await path.fill("/tool-{version}.tgz");
      await page.getByRole("button", { name: /^Import \d/ }).click();
      await page.getByRole("heading", { name: "Import into uploads Done" }).waitFor();
      const [file] = await Promise.all([
        page.waitForEvent("download"),
        page.getByRole("link", { name: "Download rejected lines" }).click(),
      ]);
      const parts: Buffer[] = [];
      for await (const part of await file.createReadStream()) parts.push(part as Buffer);
      expect(Buffer.concat(parts).toString()).toBe("no line of it\n");
    });

    test("of CSV is recognised, and a format that was chosen by hand stays", async () => {
      await using window = await world().windowOf("ada");
      const { page } = window;
      await page.goto(upload);
      await drop(page, "$time,$version,note\n2025-03-10,1.5,a\n2025-03-10,1.6,b\n");
      await page.getByText("2 events found in 2 lines.").waitFor();
      await page.getByRole("cell", { name: "note=b" }).waitFor();
      await page.getByLabel("Format").selectOption("scarf-csv");
      await page.getByText("column names separated by commas, including id").waitFor();
      expect(await page.getByLabel("Format").inputValue()).toBe("scarf-csv");
    });

    test("chooses nothing by itself, and its commands name what is chosen; an empty file is refused", async () => {
      await using window = await world().windowOf("ada");
      const { page } = window;
      await page.goto(world().at(`/o/${ORGANIZATION}/imports/new`));
      const command = page.getByRole("group", { name: "Import with curl" });
      expect(await command.innerText()).toContain("/PACKAGE/import'");
      await drop(page, "");
      await page.getByText("The file is empty.").waitFor();
      await drop(page, LINE);
      await page.getByText("Choose a package or pixel to import into.").waitFor();
      await page.getByLabel("Package or pixel").selectOption({ label: "uploads (Files)" });
      await page.getByText("1 event found in 1 line.").waitFor();
      expect(await command.innerText()).toContain(`/${into}/import'`);
      const log = page.getByRole("group", { name: "Import an access log" });
      expect(await log.innerText()).toContain(`--to ${ORGANIZATION}/${into} `);
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
      const bar = page.getByRole("progressbar", { name: "Lines processed" });
      const valueAbove = async (least: number) => {
        await sending.send(`${LINE}\n`.repeat(40_000));
        const value = () => bar.evaluate((shown: HTMLProgressElement) => shown.value);
        await expect.poll(value).toBeGreaterThan(least);
        return value();
      };
      await valueAbove(await valueAbove(1));
      await page.locator("summary", { hasText: "Stop import" }).click();
      await page.getByRole("button", { name: "Stop import" }).click();
      await page.getByText("Import stopped.").waitFor();
      await page.getByRole("heading", { name: "Import into uploads Stopped" }).waitFor();
      expect(await api.get(`/v2/imports/${ORGANIZATION}/${started.id}`)).toMatchObject({ status: "aborted" });
      sending.breakOff();
    });

    test("without script is a plain form with a format, beside a line for the shell", async () => {
      await using window = await world().windowOf("ada", { javaScriptEnabled: false });
      const { page } = window;
      await page.goto(upload);
      expect(await page.getByRole("group", { name: "Import with curl" }).innerText()).toContain("/import'");
      await page.getByLabel("Format").selectOption("combined");
      await page.getByLabel("Download path").fill("tool");
      const file = { name: "access.log", mimeType: "text/plain", buffer: Buffer.from(`${LOGGED}\n`) };
      await page.getByLabel("File", { exact: true }).setInputFiles(file);
      await page.getByRole("button", { name: "Import" }).click();
      await page.getByText("path must begin with /.").waitFor();
      await page.getByLabel("Format").selectOption("combined");
      await page.getByLabel("Download path").fill("/tool-{version}.tgz");
      await page.getByLabel("File", { exact: true }).setInputFiles(file);
      await page.getByRole("button", { name: "Import" }).click();
      await page.getByRole("heading", { name: /^Import into uploads/ }).waitFor();
      const id = new URL(page.url()).pathname.split("/").at(-1) ?? "";
      const record = () => world().api.get<EventImport>(`/v2/imports/${ORGANIZATION}/${id}`);
      await expect.poll(record).toMatchObject({ status: "done", events_successfully_imported: 1 });
    });
  });
}

async function drop(page: Page, text: string): Promise<void> {
  const dataTransfer = await page.evaluateHandle((content) => {
    const data = new DataTransfer();
    data.items.add(new File([content], "events.ndjson"));
    return data;
  }, text);
  // Its script disables the button as it begins to listen; before that nothing would take the file.
  await page.locator("[data-upload-start]:disabled").waitFor();
  await page.locator("[data-upload-drop]").dispatchEvent("drop", { dataTransfer });
}
