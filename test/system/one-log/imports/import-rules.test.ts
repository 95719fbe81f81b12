import { beforeAll, describe, expect, test } from "vitest";
import type { ApiClient } from "../../../../deploy/demo/api-client.js";
import type { LogEntry } from "../../../../schemas/records/import-log.js";
import type { EventImport } from "../../../../schemas/records/import-store.js";
import { firstDifference } from "../../../support/imports/recount-aggregates.js";
import { joinImportWorld, type RecountBodies } from "../../../support/imports/import-world.js";
import { makeOrganization, makePackage, makePixel } from "../../../support/imports/make-artifacts.js";
import type { KnownArtifact } from "../../../support/imports/recount-line.js";

const ORGANIZATION = "rules";
const TIME = '"$time":"2025-03-10T12:00:00Z"';
const RANGE = { startDate: "2025-03-01", endDate: "2025-04-01" };

let api: ApiClient;
let recountBodies: RecountBodies;
let image: KnownArtifact;
let files: KnownArtifact;
let pixel: KnownArtifact;
let foreign: KnownArtifact;

beforeAll(async () => {
  ({ api, recountBodies } = await joinImportWorld(ORGANIZATION));
  image = await makePackage(api, { organization: ORGANIZATION, name: "image", libraryType: "docker" });
  files = await makePackage(api, { organization: ORGANIZATION, name: "files", libraryType: "other" });
  pixel = await makePixel(api, { owner: ORGANIZATION, name: "docs" });
  await makeOrganization(api, "other-rules");
  foreign = await makePackage(api, { organization: "other-rules", name: "image", libraryType: "docker" });
});

const intoAny = () => `/v2/${ORGANIZATION}/import`;
const intoImage = () => `/v2/packages/${ORGANIZATION}/${image.id}/import`;

async function importLines(path: string, lines: readonly string[]): Promise<EventImport> {
  return api.pollToDone(await api.importBody(path, lines.join("\n")));
}

function failed(line: number, type: string, message: unknown, more: object = {}): LogEntry {
  return { class: "error", line, type, human_friendly_message: message, ...more } as LogEntry;
}

function warned(line: number, type: string, message: unknown): LogEntry {
  return { class: "warning", line, type, human_friendly_message: message } as LogEntry;
}

/** A sentence that names what it is about. */
const naming = (text: string) => expect.stringContaining(text) as unknown;

describe("a line that cannot be imported is counted as failed and its entry", () => {
  test("says failed-to-decode, with its number among all lines, blank ones included", async () => {
    const record = await importLines(intoImage(), [
      "not json",
      "",
      `{${TIME}}`,
      " \t\r",
      '["an", "array"]',
      '"text"',
      "null",
      "17",
      '{"$time":"2025-03-10"',
      `{${TIME}}\r`,
      `{${TIME}} {${TIME}}`,
    ]);
    expect(record).toMatchObject({
      events_total: 9,
      events_successfully_imported: 2,
      events_failed_to_import: 7,
    });
    const lines = [1, 5, 6, 7, 8, 9, 11];
    expect(record.error_log_sample).toEqual(
      lines.map((line) => failed(line, "failed-to-decode", "Not a valid JSON object")),
    );
    expect(record.warning_log_sample).toEqual([]);
  });

  test("goes into the package or pixel whose name the line gives", async () => {
    const lines = [
      `{${TIME},"$package":"image"}`,
      `{${TIME},"$pixel":"docs"}`,
      `{${TIME},"$package":"${files.id}"}`,
    ];
    expect(await importLines(intoAny(), lines)).toMatchObject({
      events_successfully_imported: 3,
      events_failed_to_import: 0,
    });
    const record = await importLines(intoImage(), [
      `{${TIME},"$package":"image"}`,
      `{${TIME},"$package":"files"}`,
    ]);
    expect(record).toMatchObject({ events_successfully_imported: 1, events_failed_to_import: 1 });
    expect(record.error_log_sample).toEqual([
      failed(2, "artifact-not-found", naming("files"), { package_id: "files" }),
    ]);
  });

  test("says artifact-not-found with the id that was named, or that it names none or both", async () => {
    const unknown = "00000000-0000-4000-8000-000000000000";
    const record = await importLines(intoAny(), [
      `{${TIME},"$package":"${unknown}"}`,
      `{${TIME},"$package":"${foreign.id}"}`,
      `{${TIME},"$package":"${pixel.id}"}`,
      `{${TIME},"$package":"Image"}`,
      `{${TIME},"$pixel":"${unknown}"}`,
      `{${TIME},"$tracking_pixel":"${image.id}"}`,
      `{${TIME},"$package":"${image.id}","$pixel":"${pixel.id}"}`,
      `{${TIME}}`,
      `{${TIME},"$package":null}`,
      `{${TIME},"$package":"${image.id.toUpperCase()}"}`,
    ]);
    expect(record).toMatchObject({ events_successfully_imported: 1, events_failed_to_import: 9 });
    const noPackage = (line: number, id: string) =>
      failed(line, "artifact-not-found", naming(id), { package_id: id });
    const noPixel = (line: number, id: string) =>
      failed(line, "artifact-not-found", naming(id), { pixel_id: id });
    expect(record.error_log_sample).toEqual([
      noPackage(1, unknown),
      noPackage(2, foreign.id),
      noPackage(3, pixel.id),
      noPackage(4, "Image"),
      noPixel(5, unknown),
      noPixel(6, image.id),
      failed(7, "invalid-value", naming("$package and $pixel")),
      failed(8, "missing-artifact", naming("$package")),
      failed(9, "missing-artifact", naming("$package")),
    ]);
  });

  test("says line-too-long above 1 MiB, wherever chunks are cut", async () => {
    const filled = (bytes: number) => {
      const start = `{${TIME},"filler":"`;
      return `${start}${"x".repeat(bytes - start.length - 2)}"}`;
    };
    const record = await importLines(intoImage(), [
      `{${TIME}}`,
      filled(1_048_577),
      filled(1_048_576),
      `${filled(1_048_576)}\r`,
      filled(3_000_000),
      "{",
    ]);
    expect(record).toMatchObject({ events_successfully_imported: 3, events_failed_to_import: 3 });
    expect(record.error_log_sample).toEqual([
      failed(2, "line-too-long", naming("1048576")),
      failed(5, "line-too-long", naming("1048576")),
      failed(6, "failed-to-decode", "Not a valid JSON object"),
    ]);
    const left = [3, 4].map((line) => warned(line, "invalid-value", naming("filler")));
    expect(record.warning_log_sample).toEqual(left);
  });
});

test("a sample holds the first ten entries of its class, in the order of lines, over any number of chunks", async () => {
  const lines = Array.from({ length: 12_000 }, (_, index) => {
    if (index % 700 === 699) return "broken";
    const warning = index % 800 === 799 ? ',"$odd":1' : "";
    return `{${TIME},"filler":"${"x".repeat(400)}"${warning}}`;
  });
  const record = await importLines(intoImage(), lines);
  const failures = Math.floor(12_000 / 700);
  expect(record).toMatchObject({ events_total: 12_000, events_failed_to_import: failures });
  const firstTen = Array.from({ length: 10 }, (_, index) => index + 1);
  expect(record.error_log_sample.map(({ line }) => line)).toEqual(firstTen.map((nth) => nth * 700));
  // Every seventh of these lines is a broken one as well.
  const warnings = firstTen.map((nth) => (nth < 7 ? nth : nth + 1) * 800);
  expect(record.warning_log_sample.map(({ line }) => line)).toEqual(warnings);
});

test("every spelling that the rules allow means what they say", async () => {
  const lines = [
    '"$time":1741608000',
    '"$time":1741608000000',
    '"$time":"1741608000.25"',
    '"$time":"2025-03-10"',
    '"$time":"2025-03-10T23:30:00-02:00"',
    '"$time":"2025-03-10 12:00"',
    `${TIME},"$unique_id":7,"$version":"integer"`,
    `${TIME},"$unique_id":"7","$version":"digits"`,
    `${TIME},"$unique_id":"é","$version":"composed"`,
    `${TIME},"$unique_id":"e\\u0301","$version":"decomposed"`,
    `${TIME},"$remote_address":"::ffff:8.8.8.8","$version":"mapped"`,
    `${TIME},"$remote_address":"8.8.8.8"`,
    `${TIME},"$remote_address":"2001:4860:4860:0:0:0:0:8888"`,
    `${TIME},"$remote_address":"2001:4860:4860::8888"`,
    `${TIME},"$headers":[{"name":"user-agent","value":"curl/8.5.0"}]`,
    `${TIME},"$user_agent":"Wget/1.21.4","$headers":[{"name":"User-Agent","value":"curl/8.5.0"}]`,
    `${TIME},"$version":"line\\nbreak"`,
  ].map((fields) => `{${fields}}`);
  const variables = [
    '"a":{"b":1,"c":{"d":[1,{"e":2}]}},"n":null,"t":true,"s":"größe \\"x\\" 安"',
    '"same":1,"same":2',
    '"with.dot":1,"with":{"dot":2}',
    '"":"empty name","empty value":""',
  ].map((fields) => `{${TIME},${fields}}`);
  const artifact = await makePackage(api, {
    organization: ORGANIZATION,
    name: "spellings",
    libraryType: "docker",
  });
  const other = await makePackage(api, {
    organization: ORGANIZATION,
    name: "variables",
    libraryType: "other",
  });
  const received = [
    { bytes: Buffer.from(lines.join("\n")), target: artifact.id },
    { bytes: Buffer.from(variables.join("\n")), target: other.id },
  ];
  for (const { bytes, target } of received) {
    const record = await api.pollToDone(
      await api.importBody(`/v2/packages/${ORGANIZATION}/${target}/import`, bytes),
    );
    expect(record).toMatchObject({ events_failed_to_import: 0, warning_log_sample: [] });
  }
  const expected = recountBodies(received, [artifact, other]);
  const answered = (await api.readAggregates(ORGANIZATION, RANGE)).filter((line) =>
    [artifact.id, other.id].includes(line.package),
  );
  expect(firstDifference(answered, expected.aggregates)).toBe("");
  expect(answered).toContainEqual(expect.objectContaining({ variable: "a.c.d", value: '[1,{"e":2}]' }));
  expect(answered).toContainEqual(expect.objectContaining({ version: "line break" }));
  expect(answered.filter(({ version }) => version === "integer")).toEqual([]);
});
