import { beforeAll, expect, test } from "vitest";
import type { ClickHouseClient } from "@clickhouse/client";
import { pino } from "pino";
import { erasureRoutes } from "../../../../api/features/erasures/erasure-routes.js";
import { uploadStore } from "../../../../api/features/imports/uploads.js";
import { insertImport } from "../../../../api/features/imports/imports.js";
import { erasureSealer, startClientErasures } from "../../../../deploy/schedule/client-erasures.js";
import { oneServer } from "../../../../deploy/stores/clickhouse/connect-shards.js";
import { openEmbeddedLog } from "../../../../deploy/stores/embedded/event-log/event-log.js";
import type { Stores } from "../../../../deploy/stores/open-stores.js";
import { ENRICH_GROUP, partitionsOf } from "../../../../schemas/records/event-log.js";
import { SECRET_KEY } from "../../../support/api/management-api.js";
import { as, postgres, useOneWorld, world } from "../../../support/api/use-world.js";
import { useFolder } from "../../../support/use-folder.js";

const dir = useFolder("erasure-beside-backlog");
const PARTITIONS = 8;
const [BULK = 0] = partitionsOf("bulk", PARTITIONS);
const BACKLOG = 50;

useOneWorld(({ pg }) => ({ routes: erasureRoutes({ pg, sealer: erasureSealer(SECRET_KEY) }) }));

let ownerId: string;
let accountId: string;

beforeAll(async () => {
  const idOf = async (name: string) =>
    (await postgres.pg.query<{ id: string }>("select id from owners where name = $1", [name])).rows[0]?.id ??
    "";
  ownerId = await idOf(world.organization);
  accountId = await idOf(world.names.owner);
});

/** A ClickHouse without events. */
const NO_EVENTS = oneServer({
  command: async () => undefined,
  query: async () => ({ json: async () => [] }),
} as unknown as ClickHouseClient);

/** The import of the owner is one record. */
async function putImport(logEnds: number[]): Promise<void> {
  const { pg } = postgres;
  const { id } = await insertImport(pg, { ownerId, accountId, artifactKind: "any", artifactId: "" });
  const received = { bytes: 1, bytesUnpacked: 1, lines: 1, stamp: Date.now(), logEnds };
  await uploadStore(pg).completeUpload({ importId: id, ownerId, chunksTotal: 1, ...received });
  await pg.query("update imports set status = 'done' where id = $1", [id]);
}

test("an erasure is done while another owner's backlog waits behind its owner's lines", async () => {
  await using log = await openEmbeddedLog({ dir, partitions: PARTITIONS });
  const own = await log.append([Buffer.from("own")], { partition: BULK, ownerId });
  const others = Array.from({ length: BACKLOG }, () => Buffer.from("another's"));
  await log.append(others, { partition: BULK, ownerId: "another" });
  await putImport([...Array<number>(BULK).fill(0), own ?? 0]);

  let release = (): void => undefined;
  const held = new Promise<void>((resolve) => (release = resolve));
  const options = { group: ENRICH_GROUP, batchBytesMax: 1, share: { index: 0, of: 1 } };
  await using _consumer = await log.consume(options, async (batch) => {
    if (batch.records[0]?.offset !== 0) await held;
    await batch.commit();
  });
  const stores = { pg: postgres.pg, shards: NO_EVENTS, eventLog: async () => log } as unknown as Stores;
  const silent = pino({ level: "silent" });
  await using _erasures = startClientErasures({ log: silent, stores, secretKey: SECRET_KEY });
  try {
    const asked = await as("admin", `POST /v2/${world.organization}/erasures`, {
      endpoint_id: "0f".repeat(16),
    });
    const { id } = asked.body as { id: string };
    const status = async () => (await as("admin", `GET /v2/${world.organization}/erasures/${id}`)).body;
    await expect.poll(status, { timeout: 30_000 }).toMatchObject({ status: "done" });
    expect(await log.lag(ENRICH_GROUP)).toBe(BACKLOG);
  } finally {
    release();
  }
});
