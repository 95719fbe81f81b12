import { pino } from "pino";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { openKafkaLog } from "../../deploy/stores/kafka/event-log.js";
import type { ApiClient } from "../../deploy/demo/api-client.js";
import { retryWhileDown } from "../../enrich/batches/retry-while-down.js";
import { BatchLost } from "../../schemas/records/event-log.js";
import { openPersistentClickHouse } from "../faults/worlds/fault-world.js";
import { describeWithJava } from "../broker/suite/describe-with-broker.js";
import { findCoordinator, OFFSETS_TOPIC } from "../broker/suite/find-coordinator.js";
import { openJavaCluster, type JavaTestCluster } from "../broker/suite/java-broker.js";
import { onAdmin } from "../broker/suite/on-admin.js";
import { firstDifference } from "../support/imports/recount-aggregates.js";
import { openImportWorld, type ImportWorld } from "../support/imports/import-world.js";
import { makePackage } from "../support/imports/make-artifacts.js";
import type { KnownArtifact } from "../support/imports/recount-line.js";
import { sectionBytes } from "../support/program/roles-world.js";
import { onPostgres } from "../support/stores/on-postgres.js";
import { countLive } from "../support/stores/open-clickhouse.js";

const ORGANIZATION = "on-three";
const RANGE = { startDate: "2025-03-01", endDate: "2025-05-01" };
const IMPORTS = 2;
const LINES = 6_000;
const TOPIC = "events.raw";
const TOPIC_RESOURCE = 2;

describeWithJava("three brokers, of which one dies", () => {
  let cluster: JavaTestCluster;
  let world: ImportWorld;

  beforeAll(async () => {
    cluster = await openJavaCluster();
    // Without its coordinator an idle consumer joins as a new member, and its group waits for the session of the old one.
    const env = {
      KAFKA_BROKERS: cluster.brokers.join(","),
      KAFKA_PARTITIONS: "6",
      KAFKA_SESSION_TIMEOUT_MS: "6000",
    };
    world = await openImportWorld(ORGANIZATION, { env });
  });

  afterAll(async () => {
    await world?.toolchain.close();
    await cluster?.[Symbol.asyncDispose]();
  });

  const describeTopic = () =>
    onAdmin(cluster.brokers, async (admin) => {
      const { topics } = await admin.fetchTopicMetadata({ topics: [TOPIC] });
      const { resources } = await admin.describeConfigs({
        includeSynonyms: false,
        resources: [{ type: TOPIC_RESOURCE, name: TOPIC, configNames: ["min.insync.replicas"] }],
      });
      const partitions = topics[0]?.partitions ?? [];
      return {
        copies: partitions.map(({ replicas }) => replicas.length),
        leaders: new Set(partitions.map(({ leader }) => leader)).size,
        inSync: resources[0]?.configEntries[0]?.configValue,
      };
    });

  const copiesInSync = () =>
    onAdmin(cluster.brokers, async (admin) => {
      const { topics } = await admin.fetchTopicMetadata({ topics: [TOPIC, OFFSETS_TOPIC] });
      return Math.min(...topics.flatMap(({ partitions }) => partitions.map(({ isr }) => isr.length)));
    });

  test("hold three copies of the event log, of which two must be written", async () => {
    expect(await describeTopic()).toEqual({ copies: [3, 3, 3, 3, 3, 3], leaders: 3, inSync: "2" });
  });

  test("redeliver a batch whose coordinator died, and take its commit then", async () => {
    const options = { brokers: cluster.brokers, clientId: "test", prefix: "moved.", partitions: 1 };
    await using log = await openKafkaLog({ ...options, createTopics: true }, pino({ level: "silent" }));
    await log.append([Buffer.from("one")], { partition: 0 });
    const coordinator = await findCoordinator(cluster, "moved.enrich");
    onTestFinished(async () => {
      await coordinator.restart();
      // Appends need two of the three copies, and the next test kills another broker.
      await expect.poll(copiesInSync).toBe(3);
    });
    const given: string[][] = [];
    const share = { index: 0, of: 1 };
    await log.consume({ group: "enrich", batchBytesMax: 1024, share }, async (batch) => {
      given.push(batch.records.map(({ value }) => Buffer.from(value).toString()));
      if (given.length === 1) await coordinator.kill("SIGKILL");
      const isDown = (error: unknown) => !(error instanceof BatchLost);
      await retryWhileDown(() => batch.commit(), { onFailure: () => undefined, isDown });
    });
    await expect.poll(() => log.lag("enrich").catch(() => undefined)).toBe(0);
    expect(given.length).toBeGreaterThan(1);
    expect(new Set(given.flat())).toEqual(new Set(["one"]));
  });

  const whenEnriching = () =>
    onPostgres(world.toolchain.endpoints.postgres, (client) =>
      expect
        .poll(async () => (await client.query("select from import_chunks")).rowCount, { interval: 20 })
        .toBeGreaterThan(0),
    );

  /** The body; its second half is sent once `released` resolves. */
  async function* heldBack(body: Buffer, released: Promise<unknown>): AsyncGenerator<Buffer> {
    yield body.subarray(0, body.length / 2);
    await released;
    yield body.subarray(body.length / 2);
  }

  const newPackage = (name: string, api: ApiClient): Promise<KnownArtifact> =>
    makePackage(api, { organization: ORGANIZATION, name, libraryType: "docker" });

  test("count every line of the imports under way once", async () => {
    const { api, recountBodies, toolchain } = world;
    const victim = await findCoordinator(cluster, "enrich");
    const lost = whenEnriching().then(() => victim.kill("SIGKILL"));
    const clickhouse = openPersistentClickHouse(() => toolchain.endpoints.clickhouse ?? "");
    await Promise.all(
      Array.from({ length: IMPORTS }, async (_, index) => {
        const artifact = await newPackage(`image-${index}`, api);
        const bytes = Buffer.concat([...sectionBytes([{ artifact, seed: index + 1, count: LINES }])]);
        const started = await api.importBody(`/v2/${ORGANIZATION}/import`, heldBack(bytes, lost), {
          gzip: true,
        });
        const record = await api.pollToDone(started);
        const { imports, aggregates, live } = recountBodies([{ bytes }], [artifact]);
        expect(record).toMatchObject({ events_successfully_imported: imports[0]?.successful });
        const answered = await api.readAggregates(ORGANIZATION, RANGE);
        expect(
          firstDifference(
            answered.filter((line) => line.package === artifact.id),
            aggregates,
          ),
        ).toBe("");
        expect(await countLive(clickhouse, artifact.id)).toEqual({ events: live.length, notOnce: 0 });
      }),
    );
  });
});
