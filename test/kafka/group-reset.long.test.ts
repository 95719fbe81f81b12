import { pino } from "pino";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type ApiClient, connectApi } from "../../deploy/demo/api-client.js";
import { generateBody } from "../../deploy/demo/generate-events.js";
import { createKafka } from "../../deploy/stores/kafka/kafka-client.js";
import { ENRICH_GROUP } from "../../schemas/records/event-log.js";
import type { EventImport } from "../../schemas/records/import-store.js";
import { openPersistentClickHouse } from "../faults/worlds/fault-world.js";
import { countLive } from "../support/stores/open-clickhouse.js";
import { describeWithBroker } from "../broker/suite/describe-with-broker.js";
import { expectedOutcome, outcomeOf, readUntil } from "../support/imports/import-outcome.js";
import { type RecountBodies, makeExporter, openRecount } from "../support/imports/import-world.js";
import { makePackage } from "../support/imports/make-artifacts.js";
import { onPostgres } from "../support/stores/on-postgres.js";
import { readMetrics } from "../support/program/read-metrics.js";
import type { KnownArtifact } from "../support/imports/recount-line.js";
import { type Toolchain, startToolchain } from "../support/program/start-toolchain.js";

const RANGE = { startDate: "2025-03-01", endDate: "2025-05-01" };
const ORGANIZATION = "read-again";
const PREFIX = `group-reset-${Date.now()}.`;

describeWithBroker(
  "a group whose offsets are gone, so that the log is read again from its beginning",
  (broker) => {
    let toolchain: Toolchain;
    let api: ApiClient;
    let recountBodies: RecountBodies;
    let artifact: KnownArtifact;

    beforeAll(async () => {
      const env = {
        KAFKA_BROKERS: broker().brokers.join(","),
        KAFKA_TOPIC_PREFIX: PREFIX,
        KAFKA_PARTITIONS: "4",
      };
      [toolchain, recountBodies] = await Promise.all([startToolchain({ env }), openRecount()]);
      api = await makeExporter(toolchain, ORGANIZATION);
      artifact = await makePackage(api, { organization: ORGANIZATION, name: "image", libraryType: "docker" });
    });

    afterAll(() => toolchain?.close());

    const bodies: Buffer[] = [];

    /** Later ones override events of those before. */
    function nextBody(): Buffer {
      const packages = [{ id: artifact.id, libraryType: "docker" as const }];
      const mix = { seed: 61, clients: 2_000, overrideShare: 0.2, from: "2025-03-10", days: 30, packages };
      const body = Buffer.concat([...generateBody({ ...mix, count: 8_000, startAt: 8_000 * bodies.length })]);
      bodies.push(body);
      return body;
    }

    const send = (body: Buffer) =>
      api.importBody(`/v2/packages/${ORGANIZATION}/${artifact.id}/import`, body, { gzip: true });

    async function restartWithoutGroup(): Promise<void> {
      await toolchain.kill("SIGTERM");
      const connection = { brokers: broker().brokers, clientId: "operator" };
      const admin = createKafka(connection, pino({ level: "silent" })).admin();
      await admin.connect();
      // The members of a program that missed its deadline, on a busy machine, leave the group with their session.
      const deleteGroup = () => admin.deleteGroups([`${PREFIX}${ENRICH_GROUP}`]);
      await expect.poll(() => deleteGroup().catch(() => "not yet")).not.toBe("not yet");
      await admin.disconnect();
      await toolchain.restart();
      api = connectApi(toolchain.api, api.token);
    }

    const countChunks = (condition: string) =>
      onPostgres(toolchain.endpoints.postgres, async (client) => {
        const { rows } = await client.query(`select from import_chunks where ${condition}`);
        return rows.length;
      });

    /** Counts of the imports, aggregates and raw rows are those of the bodies, counted again. */
    async function expectExact(records: readonly EventImport[]): Promise<void> {
      const sent = bodies.map((bytes) => ({ bytes, target: artifact.id }));
      const expected = recountBodies(sent, [artifact]);
      expect(records.map(outcomeOf)).toEqual(expected.imports.map(expectedOutcome));
      const { aggregates } = expected;
      await readUntil(api, ORGANIZATION, { packageId: artifact.id, range: RANGE, expected: aggregates });
      const clickhouse = openPersistentClickHouse(() => toolchain.endpoints.clickhouse ?? "");
      const once = { events: expected.live.length, notOnce: 0 };
      expect(await countLive(clickhouse, artifact.id)).toEqual(once);
    }

    const readAgain = (records: readonly EventImport[]) =>
      Promise.all(records.map(({ id }) => api.get<EventImport>(`/v2/imports/${ORGANIZATION}/${id}`)));

    const done: EventImport[] = [];

    test("imports that were done stay exact", async () => {
      for (let count = 0; count < 2; count++) done.push(await api.pollToDone(await send(nextBody())));
      await expectExact(done);
      await restartWithoutGroup();
      await expect.poll(() => countChunks("reports < 2 or not settled")).toBe(0);
      await expectExact(await readAgain(done));
      // Written in other ranges than before, it was doubled until settlement.
      expect((await readMetrics(toolchain)).sum("settlement_versions_total")).toBeGreaterThan(0);
    });

    test("an import that was on its way is done exactly", async () => {
      const started = await send(nextBody());
      await restartWithoutGroup();
      const record = await api.pollToDone(started);
      await expect
        .poll(() => countChunks("reports < 2 and import_id <> '" + started.id + "' or not settled"))
        .toBe(0);
      const waiting = `reports < 3 and import_id <> '${started.id}' or not settled`;
      await expect.poll(() => countChunks(waiting)).toBe(0);
      await expectExact([...(await readAgain(done)), record]);
    });
  },
);
