import { text as readText } from "node:stream/consumers";
import { expect, test } from "vitest";
import {
  openImportLog,
  type ImportLogQuery,
  readImportFaults,
} from "../../../../aggregate/queries/open-import-log.js";
import { Random } from "../../../../deploy/demo/random.js";
import { insertBlock } from "../../../../enrich/batches/insert-block.js";
import { endpointId, openIds, originId } from "../../../../enrich/lookups/open-ids.js";
import { EventBlock, type EventOrigin } from "../../../../enrich/native/event-block.js";
import { LogBlock } from "../../../../enrich/native/log-block.js";
import { NIL_UUID } from "../../../../schemas/formats.js";
import type { EnrichedEvent } from "../../../../schemas/records/enriched-event.js";
import { clickhouse, useClickHouse } from "../../../support/stores/use-clickhouse.js";

useClickHouse();

const TEXTS = [
  "",
  "latest",
  "größer",
  "安定版 🚀",
  "e\u0301 ≠ é",
  'say "hi"\\n',
  "\t\u0001\u007f\u2028",
  "x".repeat(2_000),
  "é".repeat(24),
  "é".repeat(25),
  "line\u00a0space ",
];
const RECEIVED_AT = 1_741_608_000_123;
/** The log is kept for a time. */
const LOGGED_AT = Date.now();
const IMPORT_ID = "0195b2f0-1111-7aaa-8bbb-cccccccccccc";

function uuidAt(number: number): string {
  return `0195b2f0-0000-7000-8000-${number.toString(16).padStart(12, "0")}`;
}

/** Every field different from its neighbours', so that two columns that changed places would show. */
function eventAt(line: number): EnrichedEvent {
  const random = Random.at(1, line, 0);
  const text = () => random.pick(TEXTS);
  const number = () => random.pick([NaN, 0, -0.5, 90, -179.99999, 51.1657, random.share() * 180]);
  const isPixel = random.chance(0.2);
  const isKnown = random.chance(0.8);
  return {
    artifact: {
      kind: isPixel ? "pixel" : "package",
      id: uuidAt(random.below(20)),
      ownerId: NIL_UUID,
      libraryType: isPixel ? "" : random.pick(["docker", "npm", "hackage", "pypi", "other"]),
    },
    line,
    uniqueId: random.chance(0.5) ? "" : `${text()} ${line}`,
    time: random.pick([0, 1, RECEIVED_AT, RECEIVED_AT + 86_400_000, random.below(2_000_000_000) * 1_000 + 7]),
    type: text(),
    version: text(),
    domain: text(),
    referer: text(),
    userAgent: text(),
    address: isKnown ? `192.0.2.${random.below(200)}` : "",
    country: "",
    variables: Array.from({ length: random.below(5) }, (_, index) => [`${index}${text()}`, text()]).flat(),
    client: {
      client: text(),
      clientVersion: text(),
      platform: text(),
      automated: random.pick(["", "bot", "ci", "mirror"] as const),
    },
    place: {
      country: text(),
      state: text(),
      city: text(),
      postal: text(),
      latitude: number(),
      longitude: number(),
    },
    network: {
      company: text(),
      companyDomain: text(),
      connectionType: text(),
      cloudProvider: text(),
      cloudProviderDomain: text(),
    },
  };
}

const ids = openIds(Buffer.alloc(32, "key"));
const NO_ID = "0".repeat(32);

const ORIGIN: EventOrigin = {
  importId: IMPORT_ID,
  keyPrefix: IMPORT_ID,
  receiptStamp: RECEIVED_AT,
  firstLine: 1,
};

/** The row that an event must read back as. */
function rowOf(event: EnrichedEvent, { receiptStamp, firstLine }: EventOrigin) {
  const { artifact, client, place, network, variables } = event;
  const pairs = Array.from({ length: variables.length / 2 }, (_, index) =>
    variables.slice(2 * index, 2 * index + 2),
  );
  return {
    artifact: artifact.id,
    kind: artifact.kind,
    library_type: artifact.libraryType,
    time: String(event.time),
    date: new Date(event.time).toISOString().slice(0, 10),
    version: String(BigInt(receiptStamp) * 2n ** 20n + BigInt(event.line - firstLine)),
    import_id: IMPORT_ID,
    sign: 1,
    type: event.type,
    package_version: event.version,
    domain: event.domain,
    referer: event.referer,
    user_agent: event.userAgent,
    variables: Object.fromEntries(pairs) as unknown,
    client: client.client,
    client_version: client.clientVersion,
    platform: client.platform,
    origin_id: originId(ids, event.address, event.userAgent) || NO_ID,
    endpoint_id: endpointId(ids, event.address) || NO_ID,
    latitude: String(Math.fround(place.latitude)),
    longitude: String(Math.fround(place.longitude)),
    country: place.country,
    state: place.state,
    city: place.city,
    postal: place.postal,
    company: network.company,
    company_domain: network.companyDomain,
    connection_type: network.connectionType,
    cloud_provider: network.cloudProvider,
    cloud_provider_domain: network.cloudProviderDomain,
    automated: client.automated,
  };
}

const READ = `
  SELECT * EXCEPT event_id REPLACE (
    toString(toUnixTimestamp64Milli(time)) AS time, toString(version) AS version,
    lower(hex(origin_id)) AS origin_id, lower(hex(endpoint_id)) AS endpoint_id,
    toString(toFloat64(latitude)) AS latitude, toString(toFloat64(longitude)) AS longitude)
  FROM events WHERE import_id = '${IMPORT_ID}' ORDER BY version`;

/** JavaScript and ClickHouse write numbers differently: compared as numbers. */
function withNumbers<Row extends { latitude: string; longitude: string }>(row: Row) {
  return { ...row, latitude: Number(row.latitude), longitude: Number(row.longitude) };
}

test.each([
  ["of its first use", RECEIVED_AT, 1],
  ["used again, with the greatest versions that there can be", 2 ** 44 - 1, 2],
])("every column of a block %s reads back as it was written", async (_, receiptStamp, firstLine) => {
  const origin = { ...ORIGIN, receiptStamp, firstLine };
  await clickhouse.client.command({ query: "TRUNCATE TABLE events" });
  const block = new EventBlock(ids);
  // Its earlier rows are gone without a trace.
  for (let line = 9_000; line < 9_100; line += 1) block.add(eventAt(line), ORIGIN);
  block.encode();
  block.clear();
  const events = Array.from({ length: 1_500 }, (_, index) => eventAt(firstLine + index));
  for (const event of events) block.add(event, origin);
  const { insertQuery: query } = block;
  await insertBlock(clickhouse.client, { query, block: block.encode(), token: `columns ${firstLine}` });
  const rows = await clickhouse.rows<ReturnType<typeof rowOf>>(READ);
  expect(rows.length).toBe(events.length);
  const expected = events.map((event) => withNumbers(rowOf(event, origin)));
  expect(rows.map(withNumbers)).toEqual(expected);
});

test("equal keys of one artifact are one event, other keys and artifacts others", async () => {
  const block = new EventBlock(ids);
  const plain = { ...eventAt(1), time: RECEIVED_AT };
  const [first, second] = [uuidAt(100), uuidAt(101)];
  const keyed = [
    { id: first, uniqueId: "a", line: 1 },
    { id: first, uniqueId: "a", line: 2 },
    { id: first, uniqueId: "b", line: 3 },
    { id: second, uniqueId: "a", line: 4 },
    { id: first, uniqueId: "", line: 5 },
    { id: first, uniqueId: "", line: 6 },
    { id: first, uniqueId: `line ${IMPORT_ID} 5`, line: 7 },
  ];
  for (const { id, ...over } of keyed)
    block.add({ ...plain, ...over, artifact: { ...plain.artifact, id } }, ORIGIN);
  const { insertQuery: query } = block;
  await insertBlock(clickhouse.client, { query, block: block.encode(), token: "keys" });
  const rows = await clickhouse.rows<{ versions: string[] }>(`
    SELECT groupArray(toString(line)) AS versions
    FROM (SELECT event_id, bitAnd(version, 1048575) + 1 AS line FROM events
      WHERE artifact IN ('${first}', '${second}') ORDER BY line)
    GROUP BY event_id ORDER BY versions[1]`);
  expect(rows.map(({ versions }) => versions)).toEqual([["1", "2"], ["3"], ["4"], ["5"], ["6"], ["7"]]);
});

test("a log that has not every entry counts them by class and type, and ends with how many more there are", async () => {
  const block = new LogBlock();
  const importId = "0195b2f0-1111-7aaa-8bbb-dddddddddddd";
  const entry = { importId, line: 2, bytes: Buffer.from("x"), loggedAt: Date.now() };
  const fault = { class: "error", type: "failed-to-decode", message: "Not a valid JSON object" } as const;
  const rest = { class: "info", type: "entries-not-kept" } as const;
  block.add({ ...entry, fault });
  block.add({ ...entry, line: 3, fault });
  for (const [line, message, count] of [
    [1, "error failed-to-decode", "40"],
    [1, "warning unknown-property", "7"],
    [90, "error failed-to-decode", "50"],
  ] as const)
    block.add({ ...entry, line, fault: { ...rest, message }, bytes: Buffer.from(count) });
  await insertBlock(clickhouse.client, { query: block.insertQuery, block: block.encode(), token: "rest" });
  const example = { human_friendly_message: fault.message, text: "x" };
  expect(await readImportFaults(clickhouse.client, importId)).toEqual([
    {
      class: "error",
      type: "failed-to-decode",
      count: 92,
      examples: [
        { line: 2, ...example },
        { line: 3, ...example },
      ],
    },
    { class: "warning", type: "unknown-property", count: 7, examples: [] },
  ]);
  const read = async (what: ImportLogQuery["what"], id = importId) => {
    const { signal } = new AbortController();
    return readText(await openImportLog(clickhouse.client, { importId: id, what, signal }));
  };
  expect((await read("import-log")).trim().split("\n")).toHaveLength(2);
  expect(JSON.parse(await read("import-log-rest"))).toEqual({
    ...rest,
    human_friendly_message: "97 more entries are counted and not kept.",
    line: 0,
  });
  expect(await read("import-log-rest", NIL_UUID)).toBe("");
  expect(await read("rejected-lines")).toBe("x\nx\n");
});

test("a log entry reads back as it was written, and the refused line byte for byte", async () => {
  const block = new LogBlock();
  const bytes = Buffer.from([0, 1, 2, 0xff, 0xfe, 0x80, 0x0d, 0x22]);
  const fault = { class: "error", type: "failed-to-decode", message: "größe\t🚀" } as const;
  const entries = [
    { importId: IMPORT_ID, line: 2 ** 40, fault: { ...fault, packageId: "p" }, bytes, loggedAt: LOGGED_AT },
    {
      importId: IMPORT_ID,
      line: 2 ** 40 + 1,
      fault: { ...fault, class: "warning" as const, pixelId: "q" },
      bytes: Buffer.alloc(0),
      loggedAt: LOGGED_AT,
    },
  ];
  for (const entry of entries) block.add(entry);
  await insertBlock(clickhouse.client, { query: block.insertQuery, block: block.encode(), token: "log" });
  const rows = await clickhouse.rows(`
    SELECT import_id, toString(line) AS line, class, type, message, package_id, pixel_id, hex(line_bytes) AS bytes,
      toString(toUnixTimestamp64Milli(logged)) AS logged
    FROM import_log WHERE import_id = '${IMPORT_ID}' ORDER BY line`);
  const common = {
    import_id: IMPORT_ID,
    type: fault.type,
    message: fault.message,
    logged: String(LOGGED_AT),
  };
  expect(rows).toEqual([
    {
      ...common,
      line: String(2 ** 40),
      class: "error",
      package_id: "p",
      pixel_id: "",
      bytes: bytes.toString("hex").toUpperCase(),
    },
    { ...common, line: String(2 ** 40 + 1), class: "warning", package_id: "", pixel_id: "q", bytes: "" },
  ]);
});
