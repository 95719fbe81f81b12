import { Readable } from "node:stream";
import { text } from "node:stream/consumers";
import type { ClickHouseClient } from "@clickhouse/client";
import { describe, expect, test } from "vitest";
import { insertBlock } from "../../../../enrich/batches/insert-block.js";

interface Sent {
  query: string;
  body: string;
  settings: Record<string, unknown>;
}

/** A ClickHouse that reads what it is sent and answers with these headers. */
function fakeClickHouse(headers: Record<string, string> = {}) {
  const sent: Sent[] = [];
  const exec = async (params: {
    query: string;
    values: Readable;
    clickhouse_settings: Record<string, unknown>;
  }) => {
    sent.push({
      query: params.query,
      body: await text(params.values),
      settings: params.clickhouse_settings,
    });
    return { stream: Readable.from([]), response_headers: headers };
  };
  return { clickhouse: { exec } as unknown as ClickHouseClient, sent };
}

const insert = {
  query: "INSERT INTO events FORMAT Native",
  block: [Buffer.from("one "), Buffer.alloc(0), Buffer.from("block")],
  token: "log:0:1-2",
};

describe("insertBlock", () => {
  test("sends the block whole, under its token, once into table and views", async () => {
    const { clickhouse, sent } = fakeClickHouse();
    await insertBlock(clickhouse, insert);
    const settings = {
      insert_deduplication_token: "log:0:1-2",
      async_insert: 0,
      insert_deduplicate: 1,
      deduplicate_blocks_in_dependent_materialized_views: 1,
      max_partitions_per_insert_block: "0",
      wait_end_of_query: 1,
    };
    expect(sent).toEqual([
      { query: insert.query, body: "one block", settings: expect.objectContaining(settings) as object },
    ]);
  });

  test("takes a success that carries an exception for a failure", async () => {
    const { clickhouse } = fakeClickHouse({ "x-clickhouse-exception-code": "241" });
    await expect(insertBlock(clickhouse, insert)).rejects.toThrow("exception 241");
  });
});
