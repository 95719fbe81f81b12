import { readFile, stat } from "node:fs/promises";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";
import { beforeAll, describe, expect, test, vi } from "vitest";
import { ADDRESSES, hostileEvents, type HostileEvent } from "../../../support/imports/hostile-events.js";
import { retract } from "../../../support/imports/import-outcome.js";
import { makePackage } from "../../../support/imports/make-artifacts.js";
import {
  hasPython,
  openCsv,
  READERS,
  readWithPython,
  rowText,
  saveExport,
} from "../../../support/imports/read-export.js";
import type { KnownArtifact } from "../../../support/imports/recount-line.js";
import { api, joinProgram, program } from "../../../support/program/use-toolchain.js";
import { useFolder } from "../../../support/use-folder.js";

/** EXPORT_ROWS=1000000 is what is promised; few are enough to see that all is as it should be. */
const EVENTS = Number(process.env["EXPORT_ROWS"] ?? 4_000);
const SMALL = Math.min(EVENTS, 4_000);
const FROM = "2025-03-10";
const DAYS = "startDate=2025-03-10&endDate=2025-03-20";
const LATER = "2025-03-15";
const ID = /^[0-9a-f]{32}$/;
const PYTHON = await hasPython();
const folder = useFolder("toolchain-exports");
const WITHOUT_PYTHON = "SKIPPED: Python's reader of CSV. Install python3.";

let files: KnownArtifact;
let pixel: KnownArtifact;
let expected: string[];
let small: string[];

/** Each is in the export once, as the latest import has it. */
function liveRows(...imports: HostileEvent[][]): string[] {
  const latest = new Map(
    imports.flat().map(({ uniqueId, row }) => [`${row.pixel} ${uniqueId}`, rowText(row)]),
  );
  return [...latest.values()].sort();
}

async function importLines(lines: Iterable<HostileEvent>): Promise<string> {
  function* bytes() {
    for (const { line } of lines) yield Buffer.from(`${line}\n`);
  }
  const started = await api.importBody("/v2/event-exports/import", bytes(), { gzip: true });
  const done = await api.pollToDone(started, { timeoutMs: 600_000 });
  expect(done).toMatchObject({ status: "done", events_failed_to_import: 0 });
  return done.id;
}

joinProgram("event-exports-ada", { organizations: ["event-exports"], name: "wholeProgram" });
beforeAll(async () => {
  files = await makePackage(api, {
    organization: "event-exports",
    name: 'files "=1", größer',
    libraryType: "other",
  });
  const named = { artifact: files, packageName: 'files "=1", größer' };
  const made = await api.post<{ id: string }>("/v2/pixels/event-exports", {
    name: "Handbook",
    package_id: files.id,
  });
  pixel = { kind: "pixel", id: made.id, libraryType: "" };
  const seen = { ...named, artifact: pixel };
  const first = [...hostileEvents({ seed: 1, count: EVENTS, from: FROM, ...named })];
  const views = [...hostileEvents({ seed: 2, count: 500, from: FROM, ...seen })];
  const again = [...hostileEvents({ seed: 3, count: SMALL / 10, from: LATER, ...named })];
  const sameDays = [...hostileEvents({ seed: 4, count: SMALL / 20, from: FROM, ...named })];
  await importLines(first);
  await importLines([...views, ...again]);
  await importLines(sameDays);
  // Overrides a part, is retracted whole: what it had overridden is live again.
  const mistake = await importLines(hostileEvents({ seed: 5, count: SMALL / 15, from: FROM, ...named }));
  await retract(api, `/v2/imports/event-exports/${mistake}`);
  expected = liveRows(first, views, again, sameDays);
  small = liveRows(views);
  const asked = new Date();
  await vi.waitFor(async () => expect(await completeThrough()).toBeGreaterThan(asked.getTime()), 60_000);
}, 1_200_000);

const events = (name: string, query = DAYS) => `/v1/packages/${files.id}/events/${name}?${query}`;

async function completeThrough(): Promise<number> {
  const { headers } = await api.request(events("events.csv"), { method: "HEAD" });
  return Date.parse(headers.get("x-complete-through") ?? "");
}

async function save(path: string, headers: Record<string, string> = {}) {
  const file = join(folder, `${Math.random()}`);
  return { file, ...(await saveExport(api, path, { file, headers })) };
}

describe("every live event is in the export once, and no other", () => {
  test.each(Object.entries(READERS))(
    "as %s reads it",
    async (_, { ending, read, seen }) => {
      const saved = await save(events(`events.${ending}`), { TE: "trailers" });
      expect(saved.trailers).toEqual({ "x-row-count": String(expected.length) });
      expect(seen(await read(saved.file))).toEqual(seen(expected));
    },
    600_000,
  );

  test.skipIf(!PYTHON && process.env["CI"] !== "true")(
    PYTHON ? "as Python's csv reads it" : WITHOUT_PYTHON,
    async () => {
      expect(PYTHON, WITHOUT_PYTHON).toBe(true);
      const { file } = await save(events("events.csv"));
      expect(await readWithPython(file)).toEqual(expected);
    },
    600_000,
  );

  test("with an id of its own, and those of its endpoint where it has an address", async () => {
    const { file } = await save(events("events.csv"));
    const ids = new Set<string>();
    const endpoints = new Set<string>();
    for await (const { id = "", endpoint_id = "", origin_id = "" } of openCsv(file)) {
      ids.add(id);
      endpoints.add(endpoint_id);
      expect([id, endpoint_id, origin_id].filter((each) => !ID.test(each))).toEqual(
        endpoint_id === "" ? ["", ""] : [],
      );
    }
    expect(ids.size).toBe(expected.length);
    expect(endpoints.size).toBe(ADDRESSES + 1);
  });

  test("for pixels as for packages", async () => {
    const { file, trailers } = await save(`/v1/pixels/events/all.csv?${DAYS}`, { TE: "trailers" });
    expect(await READERS["csv-parse"].read(file)).toEqual(small);
    expect(trailers).toEqual({ "x-row-count": "500" });
  });

  test("compressed as asked for", async () => {
    const plain = await save(`/v1/pixels/events/all.csv?${DAYS}`);
    const bytes = sorted(await readFile(plain.file));
    const gzip = await save(`/v1/pixels/events/all.csv?${DAYS}`, { "Accept-Encoding": "zstd;q=0.5, gzip" });
    expect(gzip.headers["content-encoding"]).toBe("gzip");
    expect(sorted(gunzipSync(await readFile(gzip.file)))).toEqual(bytes);
    const zstd = await save(`/v1/pixels/events/all.csv?${DAYS}`, { "Accept-Encoding": "zstd, gzip;q=0.5" });
    expect(zstd.headers["content-encoding"]).toBe("zstd");
    expect((await readFile(zstd.file)).readUInt32LE(0)).toBe(0xfd2fb528);
    expect((await stat(zstd.file)).size).toBeLessThan((await stat(plain.file)).size);
  });
});

function sorted(bytes: Buffer): string[] {
  return bytes.toString().split("\n").sort();
}

describe("the file name", () => {
  test.each([
    ["a.b.csv", "a.b.csv"],
    ["..csv", "events.csv"],
    ["..%2F..%2Fetc%2Fpasswd.csv", "etc-passwd.csv"],
    ["%22%0D%0ASet-Cookie%3A%20a.csv", "Set-Cookie-a.csv"],
    [".csv", "events.csv"],
    ["%F0%9F%A6%80.ndjson", "events.ndjson"],
  ])("%s is ignored, and saved as %s", async (name, saved) => {
    const answer = await api.request(events(name), { method: "HEAD" });
    expect(answer.status).toBe(200);
    expect(answer.headers.get("content-disposition")).toBe(`attachment; filename="${saved}"`);
  });

  test.each(["csv", "events", "events.csv.exe", "events.CSV.", "events.xlsx"])(
    "%s names no format that there is",
    async (name) => {
      const answer = await api.request(events(name));
      expect([answer.status, await answer.json()]).toMatchObject([404, { code: "not-found" }]);
    },
  );
});

describe("a request", () => {
  test("for 32 days is refused, and has no file name", async () => {
    const answer = await api.request(events("events.csv", "startDate=2025-03-10&endDate=2025-04-11"));
    expect([answer.status, await answer.json()]).toMatchObject([422, { code: "range-too-long" }]);
    expect(answer.headers.get("content-disposition")).toBeNull();
  });

  test("for 31 days is answered, by the package's name as well, and HEAD like GET without the rows", async () => {
    const query = "startDate=2025-03-01&endDate=2025-04-01&packageType=other";
    const path = `/v1/packages/${encodeURIComponent('files "=1", größer')}/events/a.csv?${query}`;
    const head = await api.request(path, { method: "HEAD" });
    const { headers } = await save(path);
    expect(head.status).toBe(200);
    expect(head.headers.get("content-type")).toBe(headers["content-type"]);
    expect(head.headers.get("vary")).toBe(headers.vary);
  });

  test("is refused where the owner has no right to export", async () => {
    await program.admin("revoke-export", "event-exports");
    const ofPackage = await api.request(events("events.csv"));
    const ofPixels = await api.request(`/v1/pixels/events/all.csv?${DAYS}`);
    await program.admin("revoke-export", "event-exports-ada");
    const ofNone = await api.request(`/v1/pixels/events/all.csv?${DAYS}`);
    await Promise.all(
      ["event-exports", "event-exports-ada"].map((owner) => program.admin("grant-export", owner)),
    );
    expect([ofPackage.status, await ofPackage.json()]).toMatchObject([403, { code: "export-not-granted" }]);
    expect((await ofPixels.text()).split("\n")).toHaveLength(2);
    expect([ofNone.status, await ofNone.json()]).toMatchObject([403, { code: "export-not-granted" }]);
  });
});

describe("the aggregates", () => {
  const path = `/v1/organizations/event-exports/aggregates?${DAYS}&breakdown=total,variable`;

  test.each([
    ["text/csv", "csv"],
    ["application/vnd.apache.parquet", "parquet"],
    ["application/vnd.apache.arrow.stream", "arrow"],
    ["text/html, application/x-ndjson;q=0.9, text/csv;q=0.1", "ndjson"],
    ["image/png", "ndjson"],
  ])("for Accept: %s are %s, with as many rows", async (accept, format) => {
    const plain = await save(path, { TE: "trailers" });
    const rows = (await readFile(plain.file, "utf8")).split("\n").length - 1;
    const asked = await save(path, { Accept: accept, TE: "trailers" });
    expect(asked.headers["content-type"]).toContain(format);
    expect(asked.headers.vary).toContain("Accept");
    expect(asked.trailers).toEqual({ "x-row-count": String(rows) });
  });
});

test("a deleted package is in no export", async () => {
  const gone = await makePackage(api, { organization: "event-exports", name: "gone", libraryType: "other" });
  await importLines(hostileEvents({ seed: 9, count: 10, from: FROM, artifact: gone, packageName: "gone" }));
  const path = `/v1/packages/${gone.id}/events/a.csv?${DAYS}`;
  expect((await api.request(path)).status).toBe(200);
  await api.request(`/v1/packages/${gone.id}`, { method: "DELETE" });
  expect((await api.request(path)).status).toBe(404);
});
