import { randomUUID } from "node:crypto";
import { beforeEach, expect } from "vitest";
import { settle, type SettleScope } from "../../../aggregate/settlement/settle.js";
import type { Shard, Shards } from "../../../schemas/shards.js";
import type { OwnerSettlement } from "../../../schemas/records/settlement.js";
import { openAggregates } from "../../../aggregate/queries/open-aggregates.js";
import { insertBlock } from "../../../enrich/batches/insert-block.js";
import { endpointId, openIds } from "../../../enrich/lookups/open-ids.js";
import { EventBlock } from "../../../enrich/native/event-block.js";
import { NIL_UUID } from "../../../schemas/formats.js";
import { type AggregateV1, BREAKDOWNS } from "../../../schemas/contracts/aggregate.js";
import {
  type EnrichedEvent,
  type Lookups,
  UNKNOWN_NETWORK,
  UNKNOWN_PLACE,
} from "../../../schemas/records/enriched-event.js";
import { expectAddresses, expectOwnNumbers } from "./expect-addresses.js";
import { makeAllSets } from "./make-all-sets.js";
import type { TestClickHouse } from "./open-clickhouse.js";
import { clickhouse, useClickHouse } from "./use-clickhouse.js";
import { aggregateEvents, firstDifference } from "../imports/recount-aggregates.js";
import type { CountedEvent, KnownArtifact } from "../imports/recount-line.js";

const ids = openIds(Buffer.alloc(32, "key"));

/** The `endpoint_id` of events from an address. */
export const clientIdOf = (address: string) => endpointId(ids, address);

/** Of the test that runs. */
export let artifact: KnownArtifact;
export let journal: TestJournal;

/** A ClickHouse for the tests of a suite, and for each test a package and its owner's notes of settlement. */
export function useSettlement(): void {
  useClickHouse();
  beforeEach(() => {
    useArtifact();
    journal = openJournal();
  });
}

/** Another package for the rest of the test. */
export function useArtifact(libraryType: "docker" | "other" = "docker"): KnownArtifact {
  return (artifact = { kind: "package", id: randomUUID(), libraryType });
}

/** When the first chunk of a test is received. */
export const STAMP = Date.parse("2025-06-01T00:00:00Z");
const STAMPS = 200;

/** Inserts a chunk of the test. */
export const insert = (versions: readonly Version[], token: string = randomUUID()) =>
  insertChunk(clickhouse, versions, token);

type SettleOptions = Partial<Parameters<typeof scopeBetween>[1]> & {
  batch?: string;
  owner?: OwnerSettlement;
};

/** Settles all that an import wrote, as far as a test goes. */
export function settleAll(
  importId: string,
  { batch = randomUUID(), owner = journal, ...scope }: SettleOptions = {},
): Promise<number> {
  const asked = scopeBetween(importId, { from: STAMP, to: STAMP + STAMPS, ...scope });
  return settle(clickhouse.shards, asked, { batch, owner });
}

/** The package's aggregates and distinct addresses count these, and nothing else, before and after sets are made. */
export async function expectCounted(versions: readonly Version[]): Promise<void> {
  await expectAnswered(versions);
  expect(await makeAllSets(clickhouse)).toEqual([]);
  await expectAnswered(versions);
}

/** Of these packages together the aggregates, and of each by itself the addresses. */
export async function expectAnswered(versions: readonly Version[], of = [artifact]): Promise<void> {
  const answered = await readAggregates(clickhouse, of);
  expect(firstDifference(answered, aggregatesOf(versions))).toBe("");
  for (const { id } of of) {
    const events = versions.map(({ event }) => event).filter((event) => event.artifact.id === id);
    const downloads = events.map((event) => ({ ...event, isAutomated: isAutomated(event.userAgent) }));
    await expectAddresses(clickhouse, id, downloads);
  }
  await expectOwnNumbers(clickhouse);
}

const isAutomated = (userAgent: string) => userAgent.endsWith("1");

/** One version of an event, as a chunk of an import brought it. */
export interface Version {
  importId: string;
  /** Receipt of its chunk, milliseconds since the epoch. */
  stamp: number;
  /** Place in its chunk, from 0. */
  line: number;
  event: CountedEvent & { key: string };
}

/** Lookups that answer from what they are asked, so that every breakdown has values. */
const lookups: Pick<Lookups, "clients" | "places" | "networks"> = {
  clients: {
    of: (userAgent) => ({
      client: userAgent,
      clientVersion: "1",
      platform: `${userAgent} OS`,
      automated: isAutomated(userAgent) ? "bot" : "",
    }),
  },
  places: { of: (address) => ({ ...UNKNOWN_PLACE, country: `country of ${address}` }) },
  networks: {
    of: (address) => ({
      ...UNKNOWN_NETWORK,
      company: `company of ${address}`,
      companyDomain: "example.org",
      cloudProvider: `cloud of ${address}`,
      cloudProviderDomain: "cloud.example",
    }),
  },
};

/** The shards that chunks went to: the note of its range names one, and all that comes again goes there. */
const places = new WeakMap<Shards, Map<string, Shard>>();

async function placeOf(shards: Shards, [first]: readonly Version[]): Promise<Shard> {
  const chunk = `${first?.importId} ${first?.stamp}`;
  const known = places.get(shards) ?? new Map<string, Shard>();
  places.set(shards, known);
  const place = known.get(chunk) ?? (await shards.choose());
  known.set(chunk, place);
  return place;
}

/** Inserts the versions of one chunk as the worker does. Another token means that ClickHouse takes them once more. */
export async function insertChunk(
  { shards }: Pick<TestClickHouse, "shards">,
  versions: readonly Version[],
  token: string,
): Promise<void> {
  const block = new EventBlock(ids);
  for (const version of versions) {
    const { importId, stamp } = version;
    block.add(enriched(version), { importId, keyPrefix: importId, receiptStamp: stamp, firstLine: 1 });
  }
  const { tables } = await placeOf(shards, versions);
  await insertBlock(tables, { query: block.insertQuery, block: block.encode(), token });
}

function enriched({ line, event }: Version): EnrichedEvent {
  const { artifact, key, time, version, userAgent, address, variables } = event;
  return {
    artifact: { ...artifact, ownerId: NIL_UUID },
    line: line + 1,
    uniqueId: key,
    time,
    type: "image-pull",
    version,
    domain: "",
    referer: "",
    userAgent,
    address,
    country: "",
    variables: [...variables].flat(),
    client: lookups.clients.of(userAgent),
    place: lookups.places.of(address),
    network: lookups.networks.of(address),
  };
}

/** The rows that may be live: the latest version of each event that was received and not retracted. */
export function liveOf(versions: readonly Version[], retracted: ReadonlySet<string>): Version[] {
  const latest = new Map<string, Version>();
  for (const version of versions.filter(({ importId }) => !retracted.has(importId))) {
    const id = `${version.event.artifact.id} ${version.event.key}`;
    const other = latest.get(id);
    if (other === undefined || isLater(version, other)) latest.set(id, version);
  }
  return [...latest.values()];
}

/** The import id orders equal positions, in ClickHouse's order: second half first. */
function isLater(one: Version, other: Version): boolean {
  const order = one.stamp - other.stamp || one.line - other.line;
  return order === 0 ? orderOf(one.importId) > orderOf(other.importId) : order > 0;
}

function orderOf(uuid: string): string {
  return uuid.slice(19) + uuid.slice(0, 19);
}

function aggregatesOf(versions: readonly Version[]): AggregateV1[] {
  return aggregateEvents(
    versions.map(({ event }) => event),
    lookups,
  );
}

/** Aggregates of these packages as the export has them. */
async function readAggregates(
  { client, shards: { shards } }: TestClickHouse,
  packages: readonly KnownArtifact[],
): Promise<AggregateV1[]> {
  const range = { startDate: "2025-01-01", endDate: "2026-01-01" };
  const signal = new AbortController().signal;
  const named = packages.map(({ id, libraryType }) => ({
    id,
    name: "",
    libraryType: libraryType || "other",
  }));
  const rows = await openAggregates(client, {
    ...{ packages: named, breakdowns: BREAKDOWNS, isSharded: shards.length > 1 },
    ...{ ...range, signal },
  });
  const parts: Buffer[] = [];
  for await (const part of rows) parts.push(part);
  const lines = Buffer.concat(parts).toString().split("\n").filter(Boolean);
  return lines.map((line) => JSON.parse(line) as AggregateV1);
}

/** How many rows of a package are live, and how many of these more or less than once. */
export async function countLive(
  clickhouse: TestClickHouse,
  packageId: string,
): Promise<{ live: number; notOnce: number }> {
  const [counted] = await clickhouse.rows<{ live: string; notOnce: string }>(`
    SELECT count() AS live, countIf(signs != 1) AS notOnce
    FROM (SELECT sum(sign) AS signs FROM events WHERE artifact = '${packageId}'
      GROUP BY event_id, version, import_id HAVING signs != 0)`);
  return { live: Number(counted?.live), notOnce: Number(counted?.notOnce) };
}

/**
 * Every chunk that an import may have written from one stamp through another. With many `events` they are not looked up in
 * the index.
 */
export function scopeBetween(
  importId: string,
  {
    from,
    to,
    events = 1,
    retracted = false,
  }: { from: number; to: number; events?: number; retracted?: boolean },
): SettleScope {
  const stamps = Array.from({ length: to - from + 1 }, (_, index) => from + index);
  return { chunks: stamps.map((stamp) => ({ importId, stamp, events })), retracted };
}

/** The notes of settlement in PostgreSQL, for the one owner of a test. */
export interface TestJournal extends OwnerSettlement {
  staged: Set<string>;
}

export function openJournal(): TestJournal {
  const staged = new Set<string>();
  const unused = () => Promise.reject(new Error("not for this test"));
  return {
    staged,
    stagedBatches: async () => [...staged],
    putStagedBatch: async (batch) => void staged.add(batch),
    closeBatch: async (batch) => void staged.delete(batch),
    whileInserting: (work) => work(),
    whileRecounting: (work) => work(undefined),
    whileNumbering: (work) => work(),
    unsettledChunks: unused,
    markSettled: unused,
    finishComplete: unused,
  };
}
