import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import kafkajs from "kafkajs";
import { pino } from "pino";
import { expect, onTestFinished, test } from "vitest";
import { createKafka } from "../../deploy/stores/kafka/kafka-client.js";
import { describeWithJavaBroker } from "../broker/suite/describe-with-broker.js";
import { readMetrics } from "../support/program/read-metrics.js";
import { startCluster } from "../support/program/start-cluster.js";
import { type FailedStart, startFailing } from "../support/program/start-failing.js";
import { makeDataDir } from "../support/stores/prepared-stores.js";
import { startToolchain } from "../support/program/start-toolchain.js";
import type { ProcessEnvironment } from "../support/program/toolchain-process.js";

const { AclOperationTypes, AclPermissionTypes, AclResourceTypes, ResourcePatternTypes } = kafkajs;

/** As a broker is by default, with an authorizer. */
const settings = {
  "group.min.session.timeout.ms": 6_000,
  // Everybody may do everything that is not refused to them.
  "authorizer.class.name": "org.apache.kafka.metadata.authorizer.StandardAuthorizer",
  "allow.everyone.if.no.acl.found": true,
};

describeWithJavaBroker(
  "the start and the end of the program on a broker",
  (broker) => {
    const connection = () => ({ KAFKA_BROKERS: broker().brokers.join(","), KAFKA_PARTITIONS: "2" });

    async function startRefused(env: ProcessEnvironment): Promise<FailedStart> {
      const folder = await mkdtemp(join(tmpdir(), "refused-"));
      onTestFinished(() => rm(folder, { recursive: true, force: true }));
      return startFailing({ ...connection(), ...env, DATA_DIR: await makeDataDir(join(folder, "data")) });
    }

    test("a program whose session its group does not take ends with the broker's reason", async () => {
      expect(await startRefused({ KAFKA_SESSION_TIMEOUT_MS: "1000" })).toEqual({
        status: 1,
        said: [expect.stringMatching(/KAFKA_SESSION_TIMEOUT_MS=1000 .*\(INVALID_SESSION_TIMEOUT\)/)],
      });
    });

    test("a program without the right to its group ends with a sentence about it", async () => {
      await refuseGroup(broker().brokers, "refused.enrich");
      expect(await startRefused({ KAFKA_TOPIC_PREFIX: "refused." })).toEqual({
        status: 1,
        said: [expect.stringMatching(/the group refused\.enrich: .* lacks the right READ/)],
      });
    });

    test("an idle program whose broker is gone drains in time, with status 0", async () => {
      await using toolchain = await startToolchain({ env: connection() });
      await broker().kill("SIGKILL");
      // Status 1 would be that of a drain that missed its deadline.
      expect(await toolchain.kill("SIGTERM"), toolchain.log()).toBe(0);
    });

    test("jobs start while the broker is unreachable, drain in time without it, and tell of its log when it is back", async () => {
      await using cluster = await startCluster({ brokers: broker().brokers });
      await broker().kill("SIGKILL");
      const jobs = await cluster.add("jobs");
      const lag = async () => (await readMetrics(jobs)).sum("event_log_lag_records");
      expect(await lag()).toBeNaN();
      expect((await fetch(`${jobs.endpoints.metrics}/readyz`)).status).toBe(200);
      expect(await jobs.kill("SIGTERM"), jobs.log()).toBe(0);
      await jobs.restart();
      expect(await lag()).toBeNaN();
      await broker().restart();
      await expect.poll(lag).toBe(0);
      expect(await jobs.kill("SIGTERM"), jobs.log()).toBe(0);
    });
  },
  { settings },
);

async function refuseGroup(brokers: readonly string[], group: string): Promise<void> {
  const admin = createKafka({ brokers, clientId: "administrator" }, pino({ level: "silent" })).admin();
  await admin.connect();
  const acl = {
    resourceType: AclResourceTypes.GROUP,
    resourceName: group,
    resourcePatternType: ResourcePatternTypes.LITERAL,
    principal: "User:ANONYMOUS",
    host: "*",
    operation: AclOperationTypes.READ,
    permissionType: AclPermissionTypes.DENY,
  };
  await admin.createAcls({ acl: [acl] });
  await admin.disconnect();
}
