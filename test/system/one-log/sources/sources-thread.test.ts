import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, test } from "vitest";
import type { SourceRecord } from "../../../../schemas/contracts/source.js";
import { readMetrics } from "../../../support/program/read-metrics.js";
import { startToolchain } from "../../../support/program/start-toolchain.js";

/** Nearly as large as an answer may be, and not as documented. */
const LARGE = Buffer.from(
  JSON.stringify(Array.from({ length: 300_000 }, (_, nth) => ({ nth, text: "text" }))),
);

test("a program counts the runs of the registry counts thread, and stops in the middle of one", async () => {
  let hanging = 0;
  const server = createServer((request, response) => {
    if (request.url?.startsWith("/api/v1/crates/")) return void (hanging += 1);
    if (request.url?.startsWith("/api/packages/")) response.end(LARGE);
    else response.end('{"downloads":[{"day":"2026-08-01","downloads":120}]}');
  });
  await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const toolchain = await startToolchain({ env: { SOURCES_URLS: `npm=${url} pypi=${url} crates=${url}` } });
  try {
    const ada = await toolchain.newAccount("ada");
    const create = (kind: string) => ada.post<SourceRecord>("/v2/ada/sources", { kind, name: "web" });
    const [npm, pypi] = [await create("npm"), await create("pypi")];
    const read = ({ id }: SourceRecord) => ada.get<SourceRecord>(`/v2/ada/sources/${id}`);
    await expect.poll(async () => (await read(npm)).last_date, { timeout: 30_000 }).toBe("2026-08-01");
    const error = async () => (await read(pypi)).last_error;
    await expect
      .poll(error, { timeout: 30_000 })
      .toMatch(/^The response does not match the registry's documentation/);
    const runs = async (labels: Record<string, string>) =>
      (await readMetrics(toolchain)).sum("source_runs_total", labels);
    await expect.poll(() => runs({ kind: "npm", outcome: "done" })).toBe(1);
    await expect.poll(() => runs({ kind: "pypi", outcome: "failed" })).toBe(1);
    await create("crates");
    // After the look, whose time was up.
    await expect.poll(() => hanging, { timeout: 30_000 }).toBe(2);
  } finally {
    await toolchain.close();
    server.closeAllConnections();
    server.close();
  }
});
