import { mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { createClient } from "@clickhouse/client";
import { pino } from "pino";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import {
  type EmbeddedClickHouse,
  startClickHouse,
} from "../../../../deploy/stores/embedded/clickhouse/clickhouse.js";
import { hasRows } from "../../../../enrich/batches/chunk-rows.js";
import { insertBlock, isRefusedData } from "../../../../enrich/batches/insert-block.js";
import { EventBlock } from "../../../../enrich/native/event-block.js";
import { NIL_UUID } from "../../../../schemas/formats.js";
import type { RawChunk } from "../../../../schemas/records/raw-chunk.js";
import { clickhouse, useClickHouse } from "../../../support/stores/use-clickhouse.js";
import { chunkOf, eventOf, ids, IMPORT_ID } from "../../../unit/enrich/lines/chunk-of.js";

describe("deduplication", () => {
  let dir: string;
  let server: EmbeddedClickHouse | undefined;

  beforeEach(async () => {
    dir = await mkdtemp(join(tmpdir(), "maintainer-toolchain-deduplication-"));
    await restart();
    await ask("CREATE DATABASE d ENGINE = Atomic");
    await ask(`CREATE TABLE d.t (n UInt32) ENGINE = MergeTree ORDER BY n PARTITION BY n > 9
    SETTINGS non_replicated_deduplication_window = 100`);
  });

  afterEach(async () => {
    await server?.[Symbol.asyncDispose]();
    await rm(dir, { recursive: true, force: true });
  });

  async function restart(between: () => Promise<void> = async () => undefined): Promise<void> {
    await server?.[Symbol.asyncDispose]();
    await between();
    server = await startClickHouse({ dir, log: pino({ level: "silent" }) });
  }

  async function ask(query: string, settings: Record<string, string | number> = {}): Promise<string> {
    const { url, username, password } = server as EmbeddedClickHouse;
    const client = createClient({ url, username, password });
    try {
      const { stream } = await client.exec({ query, clickhouse_settings: { async_insert: 0, ...settings } });
      return (await text(stream)).trim();
    } finally {
      await client.close();
    }
  }

  const insert = (number: number, token: string) =>
    ask(`INSERT INTO d.t SELECT ${number}`, { insert_deduplication_token: token });
  const stored = () => ask("SELECT arrayStringConcat(arraySort(groupArray(toString(n))), ' ') FROM d.t");

  /** The state after a SIGKILL between the token of an insert and its rows. */
  async function losePart(name: string): Promise<void> {
    const store = join(dir, "data", "store");
    const paths = await readdir(store, { recursive: true });
    const part = paths.filter((path) => path.endsWith(`/${name}`));
    expect(part).toHaveLength(1);
    await rm(join(store, part[0] ?? ""), { recursive: true });
  }

  test("an insert that a crash cut short between its token and its rows is stored when it is repeated", async () => {
    await insert(1, "first");
    await insert(11, "other partition");
    await insert(2, "cut");
    await restart(() => losePart("0_3_3_0"));
    expect(await stored()).toBe("1 11");
    for (const [number, token] of [
      [1, "first"],
      [2, "cut"],
      [2, "cut"],
      [11, "other partition"],
    ] as const)
      await insert(number, token);
    expect(await stored()).toBe("1 11 2");
  });

  test("tokens of rows that are there are kept, also when these were merged", async () => {
    await insert(1, "first");
    await insert(2, "second");
    await ask("OPTIMIZE TABLE d.t FINAL");
    await restart();
    await insert(2, "second");
    await restart();
    await insert(1, "first");
    await insert(2, "second");
    expect(await stored()).toBe("1 2");
  });

  test("the token of a part is kept whose place another part took", async () => {
    await insert(1, "first");
    for (const table of ["d.away", "d.copy"]) await ask(`CREATE TABLE ${table} AS d.t`);
    await ask("INSERT INTO d.copy SELECT 1");
    await ask("ALTER TABLE d.t MOVE PARTITION 0 TO TABLE d.away");
    await ask("ALTER TABLE d.t REPLACE PARTITION 0 FROM d.copy");
    for (const table of ["d.away", "d.copy"]) await ask(`DROP TABLE ${table} SYNC`);
    // ClickHouse deletes it a few minutes after it was moved.
    await restart(() => losePart("0_1_1_0"));
    await insert(1, "first");
    expect(await stored()).toBe("1");
  });
});

describe("refused blocks", () => {
  let made = 0;
  useClickHouse();

  const insertOf = (chunk: RawChunk, token: string) => {
    const { importId, receiptStamp, firstLine, source } = chunk;
    const events = new EventBlock(ids);
    const origin = { importId: source === "import" ? importId : NIL_UUID, keyPrefix: importId };
    for (let line = firstLine; line < firstLine + 5; line++)
      events.add(eventOf({ line, variables: ["a", "b"] }), { ...origin, receiptStamp, firstLine });
    return { query: events.insertQuery, block: [Buffer.concat(events.encode())], token };
  };

  test.each([
    ["ends early", (block: Buffer) => block.subarray(0, -20)],
    ["has a dictionary that its rows do not fit", (block: Buffer) => withText(block, "image-pull", 0x02)],
  ])(
    "ClickHouse stores nothing of a block that %s, and takes the right one under its token",
    async (_, damage) => {
      const insert = insertOf(chunkOf("", { receiptStamp: ++made }), `damaged-${made}`);
      const damaged = insert.block.map(damage);
      const refusal = await insertBlock(clickhouse.client, { ...insert, block: damaged }).catch(
        (e: unknown) => e,
      );
      expect(isRefusedData(refusal)).toBe(true);
      expect(await hasRows(clickhouse.shards, [chunkOf("", { receiptStamp: made })])).toBe(false);
      await insertBlock(clickhouse.client, insert);
      expect(await hasRows(clickhouse.shards, [chunkOf("", { receiptStamp: made })])).toBe(true);
    },
  );

  test("ClickHouse tells whose rows it has, also of live chunks that were received in the same millisecond", async () => {
    const other = "01990000-0000-7000-8000-0000000000ac";
    const stored = [
      chunkOf("", { receiptStamp: 500 }),
      chunkOf("", { source: "collect", importId: IMPORT_ID, receiptStamp: 600 }),
    ];
    for (const chunk of stored) await insertBlock(clickhouse.client, insertOf(chunk, chunk.source));
    const asked = [
      ...stored,
      chunkOf("", { receiptStamp: 501 }),
      chunkOf("", { importId: other, receiptStamp: 500 }),
      chunkOf("", { source: "collect", importId: other, receiptStamp: 600 }),
    ];
    const answers: boolean[] = [];
    for (const chunk of asked) answers.push(await hasRows(clickhouse.shards, [chunk]));
    expect(answers).toEqual([true, true, false, false, false]);
    expect(await hasRows(clickhouse.shards, asked.slice(2))).toBe(false);
    expect(await hasRows(clickhouse.shards, asked)).toBe(true);
  });

  /** With another length before the first text that begins so. */
  function withText(block: Buffer, beginning: string, length: number): Buffer {
    const damaged = Buffer.from(block);
    damaged[damaged.indexOf(beginning) - 1] = length;
    return damaged;
  }
});
