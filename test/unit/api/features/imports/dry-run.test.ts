import { PassThrough, Readable } from "node:stream";
import fc from "fast-check";
import { expect, test, vi } from "vitest";
import {
  ActiveDryRuns,
  type CheckLines,
  dryRun,
  openLineCheck,
} from "../../../../../api/features/imports/dry-run.js";
import { LogBudget, enrichChunk } from "../../../../../enrich/batches/enrich-chunk.js";
import {
  ArtifactCache,
  LiveArtifacts,
  type ResolveArtifact,
} from "../../../../../enrich/lookups/artifact-cache.js";
import { EventBlock } from "../../../../../enrich/native/event-block.js";
import { LogBlock } from "../../../../../enrich/native/log-block.js";
import {
  PIXEL_ID,
  RECEIVED_AT,
  chunkOf,
  dockerPackage,
  ids,
  tinyLookups,
} from "../../../enrich/lines/chunk-of.js";

const LINES = [
  '{"$time":1600000001,"channel":"beta"}',
  `{"$time":1600000001,"$package":"${dockerPackage.id}"}`,
  `{"$time":1600000001,"$pixel":"${PIXEL_ID}"}`,
  '{"$time":1600000001,"$package":"web"}',
  '{"$time":1600000001,"$package":"another"}',
  '{"$time":1600000001,"$remote_address":"nowhere","$own":1}',
  "",
  " \r",
  "{}",
  "nonsense",
  "[]",
  "\ufeff{}",
];

const resolveArtifact: ResolveArtifact = async ({ kind, id }) =>
  kind === "package" && [dockerPackage.id, "web"].includes(id)
    ? { ...dockerPackage, name: "web" }
    : undefined;

test.each(["package", "any"] as const)(
  "a dry run answers what an import of the same lines ends with (path of %s)",
  async (artifactKind) => {
    const path = { artifactKind, artifactId: artifactKind === "any" ? "" : dockerPackage.id };
    await fc.assert(
      fc.asyncProperty(fc.array(fc.constantFrom(...LINES), { maxLength: 40 }), async (lines) => {
        const body = Buffer.from(lines.join("\n"));
        const chunk = chunkOf(body, path);
        const outcome = await enrichChunk(chunk, {
          events: new EventBlock(ids),
          logs: new LogBlock(),
          logBudget: new LogBudget(),
          artifacts: new ArtifactCache(resolveArtifact),
          live: new LiveArtifacts(async () => []),
          lookups: tinyLookups,
        });
        const answer = await dryRun(Readable.from([body]), chunk, {
          checkLines: openLineCheck(resolveArtifact),
          now: () => RECEIVED_AT,
        });
        expect(answer.event_sample).toHaveLength(Math.min(outcome.eventsImported, 10));
        expect({ ...answer, event_sample: undefined }).toEqual({
          dry_run: true,
          events_total: outcome.eventsTotal,
          events_successfully_imported: outcome.eventsImported,
          events_failed_to_import: outcome.eventsFailed,
          events_with_warnings: outcome.eventsWithWarnings,
          error_log_sample: outcome.errors,
          warning_log_sample: outcome.warnings,
          lines_skipped: outcome.linesSkipped,
        });
      }),
      { numRuns: 30 },
    );
  },
);

const body = (text: string) => Readable.from([Buffer.from(text)]);
const at = chunkOf("");

test("samples the first ten entries of a body of many chunks", async () => {
  const answer = await dryRun(body(`nonsense ${"x".repeat(20_000)}\n`.repeat(25)), at, {
    checkLines: openLineCheck(resolveArtifact),
    now: () => RECEIVED_AT,
  });
  expect(answer).toMatchObject({ events_total: 25, events_failed_to_import: 25 });
  expect(answer.error_log_sample.map(({ line }) => line)).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10]);
});

test("ends above its lines, blank ones counted", async () => {
  const checks = vi.fn(openLineCheck(resolveArtifact));
  const parts = Readable.from(Array.from({ length: 8 }, () => Buffer.from("\n".repeat(65_536))));
  const running = dryRun(parts, at, {
    checkLines: checks,
    now: () => RECEIVED_AT,
    limits: { linesMax: 100_000 },
  });
  await expect(running).rejects.toMatchObject({
    code: "too-large",
    message: "A dry run accepts at most 100,000 lines. Send only the beginning of the body.",
  });
  expect(checks).toHaveBeenCalledTimes(2);
});

test("ends when its time is over, whatever its sender or its checks do", async () => {
  const limits = { durationMsMax: 10 };
  const standing = dryRun(new PassThrough(), at, {
    checkLines: openLineCheck(resolveArtifact),
    now: () => RECEIVED_AT,
    limits,
  });
  const unchecked = dryRun(body("{}"), at, {
    checkLines: () => new Promise(() => undefined),
    now: () => RECEIVED_AT,
    limits,
  });
  for (const running of [standing, unchecked])
    await expect(running).rejects.toMatchObject({ code: "unavailable", retryAfterSeconds: 60 });
});

test("ends when its caller has left, and checks nothing more", async () => {
  const caller = new AbortController();
  const left = new Error("the caller left");
  const checks = vi.fn<CheckLines>(async () => {
    caller.abort(left);
    return new Promise(() => undefined);
  });
  const parts = Readable.from(Array.from({ length: 8 }, () => Buffer.from("{}\n".repeat(65_536))));
  const running = dryRun(parts, at, { checkLines: checks, now: () => RECEIVED_AT, left: caller.signal });
  await expect(running).rejects.toBe(left);
  expect(checks).toHaveBeenCalledOnce();
  expect(checks.mock.lastCall?.[1].aborted).toBe(true);
});

const of = (index: number) => ({ ownerId: `owner ${index}`, accountId: `account ${index}` });

test("reads 15 dry runs of an owner and 100 of all at once, and more when one has ended", () => {
  const active = new ActiveDryRuns();
  const open = Array.from({ length: 100 }, (_, index) => active.open(of(Math.floor(index / 15))));
  expect(() => active.open(of(0))).toThrow("too many active imports");
  expect(() => active.open(of(100))).toThrow("Too many dry runs");
  open[0]?.[Symbol.dispose]();
  expect(() => active.open(of(0))).not.toThrow();
  expect(() => active.open(of(100))).toThrow("Too many dry runs");
});

test("reads 15 of an account, into however many organizations, and 15 of an owner, by however many accounts", () => {
  const active = new ActiveDryRuns();
  const open = Array.from({ length: 15 }, (_, index) =>
    active.open({ ownerId: `organization ${index}`, accountId: "ada" }),
  );
  expect(() => active.open({ ownerId: "another", accountId: "ada" })).toThrow("too many active imports");
  for (let index = 0; index < 15; index++) active.open({ ownerId: "acme", accountId: `member ${index}` });
  expect(() => active.open({ ownerId: "acme", accountId: "bob" })).toThrow("too many active imports");
  open[0]?.[Symbol.dispose]();
  expect(() => active.open({ ownerId: "another", accountId: "ada" })).not.toThrow();
});
