import { expect, test } from "vitest";
import { finishInserts } from "../../../../../../deploy/stores/clickhouse/cluster/finish-inserts.js";
import type { ClickHouse } from "../../../../../../schemas/shards.js";

type Asked = Parameters<ClickHouse["command"]>[0];

/** Tables that fail with these codes in turn, and then take everything. */
function openTables(codes: readonly string[]) {
  const events: string[] = [];
  const left = [...codes];
  const command = async ({ clickhouse_settings: settings }: Asked) => {
    const code = left.shift();
    events.push(
      `${String(settings?.insert_deduplication_token)} with quorum ${String(settings?.insert_quorum)}`,
    );
    if (code !== undefined) throw Object.assign(new Error(`fails with ${code}`), { code });
  };
  const tables = { command, exec: command, insert: command, query: command } as unknown as ClickHouse;
  const spread = async () => void events.push("spread");
  return { tables: finishInserts(tables, spread), events };
}

const insert = (token: string) => ({
  query: "INSERT",
  clickhouse_settings: { insert_deduplication_token: token },
});

test("an insert that too few servers had in time is repeated without a quorum, and then spread", async () => {
  const { tables, events } = openTables(["319"]);
  await expect(tables.command(insert("a"))).rejects.toThrow("fails with 319");
  await tables.command(insert("b"));
  await tables.command(insert("a"));
  await tables.command(insert("a"));
  expect(events).toEqual([
    "a with quorum undefined",
    "b with quorum undefined",
    "a with quorum 0",
    "spread",
    "a with quorum undefined",
  ]);
});

test("it stays unknown until it was spread", async () => {
  const { tables, events } = openTables(["319", "242"]);
  await expect(tables.command(insert("a"))).rejects.toThrow("319");
  await expect(tables.command(insert("a"))).rejects.toThrow("242");
  await tables.command(insert("a"));
  expect(events.slice(1)).toEqual(["a with quorum 0", "a with quorum 0", "spread"]);
});

test.each(["285", "241"])("an insert that failed with %s is repeated as it was", async (code) => {
  const { tables, events } = openTables([code]);
  await expect(tables.command(insert("a"))).rejects.toThrow(code);
  await tables.command(insert("a"));
  expect(events).toEqual(["a with quorum undefined", "a with quorum undefined"]);
});
