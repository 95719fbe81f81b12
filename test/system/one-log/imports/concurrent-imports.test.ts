import { beforeAll, expect, test } from "vitest";
import { generateLines } from "../../../../deploy/demo/generate-events.js";
import type { EventImport } from "../../../../schemas/records/import-store.js";
import { firstDifference } from "../../../support/imports/recount-aggregates.js";
import { linesByReceipt } from "../../../support/imports/recount.js";
import { makePackage } from "../../../support/imports/make-artifacts.js";
import { type RecountBodies, openRecount } from "../../../support/imports/import-world.js";
import { type UploadAnswer, openSocket, openUpload } from "../../../support/imports/open-upload.js";
import type { KnownArtifact } from "../../../support/imports/recount-line.js";
import { onPostgres } from "../../../support/stores/on-postgres.js";
import { api, joinProgram, program, makeExporting } from "../../../support/program/use-toolchain.js";

const RANGE = { startDate: "2025-03-01", endDate: "2025-05-01" };
const LINES = 6_000;
const LINE = '{"$time":"2025-03-10T12:00:00Z"}\n';

joinProgram("busy-ada");

let recountBodies: RecountBodies;

beforeAll(async () => {
  recountBodies = await openRecount();
});

async function openPackage(organization: string): Promise<{ artifact: KnownArtifact; path: string }> {
  await makeExporting(organization, program);
  const artifact = await makePackage(api, { organization, name: "image", libraryType: "docker" });
  return { artifact, path: `/v2/packages/${organization}/${artifact.id}/import` };
}

async function activeImports(owner: string): Promise<number> {
  const { event_imports } = await api.get<{ event_imports: EventImport[] }>(`/v2/imports/${owner}`);
  return event_imports.filter(({ status }) => status === "importing").length;
}

async function importsWithEvents(owner: string): Promise<number> {
  const { event_imports } = await api.get<{ event_imports: EventImport[] }>(`/v2/imports/${owner}`);
  return event_imports.filter(({ events_successfully_imported: events }) => events > 0).length;
}

test("the 16th import of an owner is refused on its headers, and only that owner's, until one ends", async () => {
  const { path } = await openPackage("busy");
  const other = await openPackage("quiet");
  // None of them sends a byte of its body.
  const uploads = Array.from({ length: 15 }, () => openUpload(api, path));
  await expect.poll(() => activeImports("busy")).toBe(15);

  const headers = ["Content-Length: 1000000000", "Expect: 100-continue"];
  for (const refused of [path, "/v2/busy/import"]) {
    const sixteenth = await openSocket(api, { path: refused, headers });
    const answer = await sixteenth.closed;
    expect(answer).toMatch(
      /^HTTP\/1.1 422 [^]*"too-many-active-imports","message":"too many active imports"/,
    );
    expect(answer).toMatch(/\r\nretry-after: \d/i);
  }
  expect(await activeImports("busy")).toBe(15);

  const elsewhere = await api.pollToDone(await api.importBody(other.path, LINE));
  expect(elsewhere).toMatchObject({ status: "done", events_successfully_imported: 1 });

  const [first, ...rest] = uploads;
  for (const upload of uploads) await upload.send(LINE);
  first?.end();
  await api.pollToDone(startedBy(await first?.answer));
  const seventeenth = openUpload(api, path);
  seventeenth.end();
  for (const upload of rest) upload.end();
  const answers = await Promise.all([seventeenth, ...rest].map(({ answer }) => answer));
  const records = await Promise.all(answers.map((answer) => api.pollToDone(startedBy(answer))));
  expect(records.map(({ status }) => status)).toEqual(Array.from({ length: 15 }, () => "done"));
  const [total] = await api.readAggregates("busy", RANGE);
  expect(total).toMatchObject({ breakdown: "total", total: 15 });
});

function startedBy(answer: UploadAnswer | undefined): EventImport {
  expect(answer).toMatchObject({ status: 200 });
  return answer?.body as EventImport;
}

test("each event of two imports at once into one package ends as its last line received says", async () => {
  const { artifact, path } = await openPackage("two-at-once");
  const left = linesOf(artifact, { seed: 77 });
  // Half of the second import's lines carry ids of the first one's, in their order, and say something else.
  const right = linesOf(artifact, { seed: 78 }).map((line, index) => {
    const { $unique_id: id } = JSON.parse(left[index + LINES / 2] ?? "{}") as {
      $unique_id?: string | number;
    };
    return id === undefined ? line : `${line.slice(0, -1)},"$unique_id":${JSON.stringify(id)}}`;
  });
  const uploads = [openUpload(api, path), openUpload(api, path)];
  const sendBoth = async (start: number, end: number) => {
    for (let at = start; at < end; at += 500) {
      await uploads[0]?.send(`${left.slice(at, at + 500).join("\n")}\n`);
      await uploads[1]?.send(`${right.slice(at, at + 500).join("\n")}\n`);
    }
  };
  await sendBoth(0, LINES / 2);
  // What follows of the one comes after something of the other.
  await expect.poll(() => importsWithEvents("two-at-once"), { timeout: 60_000 }).toBe(2);
  await sendBoth(LINES / 2, LINES);
  for (const upload of uploads) upload.end();
  const answers = await Promise.all(uploads.map(({ answer }) => answer));
  const records = await Promise.all(answers.map((answer) => api.pollToDone(startedBy(answer))));
  expect(records).toMatchObject(
    [left, right].map(({ length }) => ({ status: "done", events_successfully_imported: length })),
  );

  const sent = [left, right].map((lines, index) => ({ importId: records[index]?.id ?? "", lines }));
  const lines = await onPostgres(program.endpoints.postgres, (client) => linesByReceipt(client, sent));
  // How often they take turns more is up to the machine.
  expect(countTurns(lines, new Set(left))).toBeGreaterThan(1);
  const expected = recountBodies([{ bytes: Buffer.from(lines.join("\n")), target: artifact.id }], [artifact]);
  expect(expected.live.length).toBeLessThan(1.3 * LINES);
  expect(firstDifference(await api.readAggregates("two-at-once", RANGE), expected.aggregates)).toBe("");
});

function linesOf({ id }: KnownArtifact, { seed }: { seed: number }): string[] {
  const packages = [{ id, libraryType: "docker" as const }];
  const mix = { seed, count: LINES, clients: 500, from: "2025-03-10", days: 20, packages };
  const lines = [...generateLines({ ...mix, overrideShare: 0.3, brokenShare: 0 })];
  return lines.filter((line) => line.trim() !== "");
}

/** How often the order goes from one import to the other. */
function countTurns(lines: readonly string[], left: ReadonlySet<string>): number {
  return lines.filter((line, index) => index > 0 && left.has(line) !== left.has(lines[index - 1] ?? ""))
    .length;
}
