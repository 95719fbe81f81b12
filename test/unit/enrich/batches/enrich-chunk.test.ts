import { describe, expect, test, vi } from "vitest";
import type { Artifact } from "../../../../schemas/records/artifact.js";
import {
  ArtifactCache,
  type ResolveArtifact,
  LiveArtifacts,
} from "../../../../enrich/lookups/artifact-cache.js";
import { enrichChunk, LogBudget, LOG_LIMITS } from "../../../../enrich/batches/enrich-chunk.js";
import type { Target } from "../../../../enrich/lines/decode-line.js";
import { endpointId } from "../../../../enrich/lookups/open-ids.js";
import { EventBlock } from "../../../../enrich/native/event-block.js";
import { LogBlock } from "../../../../enrich/native/log-block.js";
import { NIL_UUID } from "../../../../schemas/formats.js";
import type { RawChunk } from "../../../../schemas/records/raw-chunk.js";
import {
  chunkOf,
  dockerPackage,
  ids,
  IMPORT_ID,
  PACKAGE_ID,
  PIXEL_ID,
  RECEIVED_AT,
  tinyLookups,
} from "../lines/chunk-of.js";
import { readRows } from "../native/read-block.js";

const resolvePackage: ResolveArtifact = async ({ kind, id }) =>
  [dockerPackage].find((artifact) => artifact.kind === kind && artifact.id === id);

async function enrich(chunk: RawChunk, resolve = resolvePackage, logLimits = LOG_LIMITS) {
  const asked = (target: Target) => resolve({ accountId: "", ownerId: "", ...target }, 0);
  const to = {
    events: new EventBlock(ids),
    logs: new LogBlock(),
    logBudget: new LogBudget(logLimits),
    artifacts: new ArtifactCache(resolve),
    live: new LiveArtifacts(async (targets) =>
      (await Promise.all(targets.map(asked))).flatMap((a) => a ?? []),
    ),
    lookups: tinyLookups,
  };
  const outcome = await enrichChunk(chunk, to);
  const blocks = [to.events.encode(), to.logs.encode()] as const;
  return { outcome, blocks, events: readRows(blocks[0]), log: readRows(blocks[1]) };
}

const good = `{"$time":${RECEIVED_AT},"$remote_address":"192.0.2.1","$user_agent":"docker/27"}`;
const lines = [
  good,
  "",
  "nonsense\r",
  " \t\r",
  '{"$package":null}',
  `{"$time":1600000001,"$pixel":"${PIXEL_ID}"}`,
  '{"$time":1600000001,"$remote_address":"nowhere","$own":1}',
  '{"$time":1600000001,"a":"multi\\nline"}',
  "x".repeat(1_048_577),
  good,
].join("\n");

const entry = (line: number, type: string, over = {}) => ({
  class: "error",
  type,
  human_friendly_message: expect.any(String) as string,
  line,
  ...over,
});

describe("enrichChunk", () => {
  test("counts every line that is not blank as imported or failed", async () => {
    const { outcome, events } = await enrich(chunkOf(lines));
    expect(outcome).toMatchObject({ importId: IMPORT_ID, sequence: 0, receiptStamp: RECEIVED_AT });
    expect(outcome).toMatchObject({ eventsTotal: 8, eventsImported: 4, eventsFailed: 4 });
    expect(events).toHaveLength(4);
  });

  test("logs every fault with its line, blank lines counted, and the refused lines as they were sent", async () => {
    const { outcome, log } = await enrich(chunkOf(lines));
    expect(outcome.errors).toEqual([
      entry(3, "failed-to-decode", { human_friendly_message: "Not a valid JSON object" }),
      entry(5, "missing-time"),
      entry(6, "artifact-not-found", { pixel_id: PIXEL_ID }),
      entry(9, "line-too-long"),
    ]);
    expect(outcome.warnings).toEqual([
      entry(7, "invalid-remote-address", { class: "warning" }),
      entry(7, "unknown-property", { class: "warning" }),
    ]);
    expect(log.map(({ line, type }) => `${String(line)} ${String(type)}`)).toEqual([
      "3 failed-to-decode",
      "5 missing-time",
      "6 artifact-not-found",
      "7 invalid-remote-address",
      "7 unknown-property",
      "9 line-too-long",
    ]);
    const sent = log.map(({ line_bytes: bytes }) => bytes);
    expect(sent).toEqual([
      "nonsense\r",
      '{"$package":null}',
      `{"$time":1600000001,"$pixel":"${PIXEL_ID}"}`,
      "",
      "",
      "x".repeat(1_048_577),
    ]);
  });

  test("takes the name of the path's package, and of one that is named alone, and refuses another name", async () => {
    const named: ResolveArtifact = async ({ id }) =>
      [PACKAGE_ID, "web"].includes(id) ? { ...dockerPackage, name: "web" } : undefined;
    const lines = ["web", "tool"].map((name) => `{"$time":1600000001,"$package":"${name}"}`).join("\n");
    const fault = entry(2, "artifact-not-found", { package_id: "tool" });
    for (const path of [{}, { artifactKind: "any", artifactId: "" } as const]) {
      const { outcome, events } = await enrich(chunkOf(lines, path), named);
      expect(outcome.errors).toEqual([fault]);
      expect(events).toMatchObject([{ artifact: PACKAGE_ID }]);
    }
  });

  test("warns of a wrong country only where the address gives none", async () => {
    const sent = ["192.0.2.1", "10.0.0.1", "nowhere"].map(($remote_address) =>
      JSON.stringify({ $time: 1600000001, $remote_address, $country: "DEU" }),
    );
    const { outcome } = await enrich(chunkOf(sent.join("\n")));
    expect(outcome.warnings).toEqual([
      entry(2, "unknown-country", { class: "warning" }),
      entry(3, "invalid-remote-address", { class: "warning" }),
      entry(3, "unknown-country", { class: "warning" }),
    ]);
  });

  test("numbers lines from the chunk's first", async () => {
    const { outcome, events } = await enrich(
      chunkOf('nonsense\n\n{"$time":1600000001}\n', { firstLine: 1001 }),
    );
    expect(outcome.errors).toEqual([entry(1001, "failed-to-decode")]);
    expect(events[0]).toMatchObject({
      unique_key: `line ${IMPORT_ID} 1003`,
      version: BigInt(RECEIVED_AT) * 2n ** 20n + 2n,
    });
  });

  test("puts into an event what every lookup knows", async () => {
    const { events } = await enrich(chunkOf(good));
    expect(events[0]).toMatchObject({
      artifact: PACKAGE_ID,
      client: "docker",
      country: "NL",
      company: "Example",
      endpoint_id: endpointId(ids, "192.0.2.1"),
    });
  });

  test("gives the same bytes each time, on whatever day", async () => {
    vi.useFakeTimers({ toFake: ["Date"] });
    vi.setSystemTime("2023-11-15");
    const first = await enrich(chunkOf(lines));
    vi.setSystemTime("2031-01-01");
    const again = await enrich(chunkOf(lines));
    vi.useRealTimers();
    const bytesOf = ({ blocks }: typeof first) => Buffer.concat(blocks.flat());
    expect(bytesOf(again).equals(bytesOf(first))).toBe(true);
    expect(again.outcome).toEqual(first.outcome);
  });

  test("samples the first ten entries of each class and logs all", async () => {
    const many = "nonsense\n".repeat(25) + '{"$time":1600000001,"$a":1,"$b":1}\n'.repeat(25);
    const { outcome, log } = await enrich(chunkOf(many));
    expect(outcome.errors.map(({ line }) => line)).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10]);
    expect(outcome.warnings.map(({ line }) => line)).toEqual([26, 26, 27, 27, 28, 28, 29, 29, 30, 30]);
    expect(log).toHaveLength(75);
  });

  test("keeps a bounded log, and counts by class and type what it does not keep", async () => {
    const many = "nonsense\n".repeat(25) + '{"$time":1600000001,"$a":1}\n'.repeat(5);
    const limits = { entriesMax: 3, bytesMax: 1000 };
    const { outcome, log } = await enrich(chunkOf(many, { firstLine: 7 }), resolvePackage, limits);
    expect(outcome).toMatchObject({ eventsTotal: 30, eventsImported: 5, eventsFailed: 25 });
    expect(outcome.errors).toHaveLength(10);
    expect(log.map(({ line, type, message, line_bytes }) => [line, type, message, line_bytes])).toEqual([
      ...[7n, 8n, 9n].map((line) => [line, "failed-to-decode", "Not a valid JSON object", "nonsense"]),
      [7n, "entries-not-kept", "error failed-to-decode", "22"],
      [7n, "entries-not-kept", "warning unknown-property", "5"],
    ]);
    const short = await enrich(chunkOf(many), resolvePackage, { entriesMax: 100, bytesMax: 16 });
    expect(short.log.filter(({ type }) => type !== "entries-not-kept")).toHaveLength(2);
  });

  test("limits times by the day of receipt, not by that of the reader", async () => {
    const { outcome } = await enrich(
      chunkOf(`{"$time":${RECEIVED_AT + 86_400_001}}\n{"$time":${RECEIVED_AT + 86_400_000}}`),
    );
    expect(outcome.errors).toEqual([entry(1, "invalid-time")]);
    expect(outcome.eventsImported).toBe(1);
  });

  test("asks for the artifact of each line in the name of who sent it", async () => {
    const resolve = vi.fn(resolvePackage);
    const chunk = chunkOf(`{"$time":1600000001,"$package":"${PACKAGE_ID}"}\n`.repeat(3), {
      artifactKind: "any",
      artifactId: "",
    });
    const { outcome } = await enrich(chunk, resolve);
    expect(outcome.eventsImported).toBe(3);
    const { accountId, ownerId } = chunk;
    expect(resolve).toHaveBeenCalledOnce();
    expect(resolve.mock.calls[0]?.[0]).toEqual({ accountId, ownerId, kind: "package", id: PACKAGE_ID });
  });

  test("rejects when it cannot learn whom an artifact belongs to, rather than refuse the line", async () => {
    const failing = () => Promise.reject(new Error("connection refused"));
    await expect(enrich(chunkOf(good), failing)).rejects.toThrow("connection refused");
  });

  test("keeps live events out of imports and their log", async () => {
    const { events, log, outcome } = await enrich(chunkOf(`${good}\nnonsense`, { source: "collect" }));
    expect(events[0]).toMatchObject({ import_id: NIL_UUID, unique_key: `line ${IMPORT_ID} 1` });
    expect(log).toEqual([]);
    expect(outcome).toMatchObject({ eventsTotal: 2, eventsFailed: 1, errors: [] });
  });

  test.each(["", "\n", "\n \r\n\t\n"])("finds no events in %j", async (blank) => {
    const { outcome, events } = await enrich(chunkOf(blank));
    expect(outcome.eventsTotal).toBe(0);
    expect(events).toEqual([]);
  });
});

describe("a chunk of live events", () => {
  const pixel: Artifact = { kind: "pixel", id: PIXEL_ID, ownerId: "another", libraryType: "" };
  const live = (text: string) =>
    chunkOf(text, {
      source: "collect",
      artifactKind: "any",
      artifactId: "",
      accountId: "",
      ownerId: NIL_UUID,
    });
  const asked: unknown[] = [];
  const resolve: ResolveArtifact = async ({ kind, id }) => {
    asked.push(`${kind} ${id}`);
    return [dockerPackage, pixel].find((artifact) => artifact.kind === kind && artifact.id === id);
  };
  const GONE = "00000000-0000-4000-8000-000000000000";
  const text = [
    `{"$time":${RECEIVED_AT},"$package":"${PACKAGE_ID}","$user_agent":"docker/27","$platform":"riscos","v":"1"}`,
    `{"$time":${RECEIVED_AT},"$pixel":"${PIXEL_ID}","$user_agent":"docker/27"}`,
    `{"$time":${RECEIVED_AT},"$package":"${GONE}"}`,
  ].join("\n");

  test("is one of several owners, and what was deleted is dropped without a word", async () => {
    asked.length = 0;
    const { outcome, events, log } = await enrich(live(text), resolve);
    expect(outcome).toMatchObject({ live: true, eventsTotal: 3, eventsImported: 2, eventsFailed: 1 });
    expect(events.map(({ artifact, type, import_id }) => [artifact, type, import_id])).toEqual([
      [PACKAGE_ID, "image-pull", NIL_UUID],
      [PIXEL_ID, "pixel-fetch", NIL_UUID],
    ]);
    expect(log).toEqual([]);
    expect(asked).toEqual([`package ${PACKAGE_ID}`, `pixel ${PIXEL_ID}`, `package ${GONE}`]);
  });

  test("may say the platform itself, which is no variable", async () => {
    const { events } = await enrich(live(text), resolve);
    expect(events.map(({ platform }) => platform)).toEqual(["riscos", "linux"]);
    expect(events.map(({ client }) => client)).toEqual(["docker", "docker"]);
    expect(events[0]?.["variables"]).toEqual([["v", "1"]]);
    const imported = await enrich(chunkOf(text.split("\n")[0] ?? ""), resolve);
    expect(imported.events[0]?.["platform"]).toBe("linux");
  });
});
