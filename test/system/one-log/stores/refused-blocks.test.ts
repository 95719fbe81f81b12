import { afterAll, beforeAll, expect, test } from "vitest";
import { hasRows } from "../../../../enrich/batches/chunk-rows.js";
import { insertBlock, isRefusedData } from "../../../../enrich/batches/insert-block.js";
import { EventBlock } from "../../../../enrich/native/event-block.js";
import { NIL_UUID } from "../../../../schemas/formats.js";
import type { RawChunk } from "../../../../schemas/records/raw-chunk.js";
import { openTestClickHouse, type TestClickHouse } from "../../../support/stores/open-clickhouse.js";
import { chunkOf, eventOf, IMPORT_ID } from "../../../unit/enrich/lines/chunk-of.js";

let clickhouse: TestClickHouse;
let made = 0;

beforeAll(async () => {
  clickhouse = await openTestClickHouse();
});
afterAll(() => clickhouse?.[Symbol.asyncDispose]());

const insertOf = (chunk: RawChunk, token: string) => {
  const { importId, receiptStamp, firstLine, source } = chunk;
  const events = new EventBlock();
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
