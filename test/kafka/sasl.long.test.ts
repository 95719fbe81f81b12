import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import kafkajs from "kafkajs";
import { pino } from "pino";
import { afterAll, beforeAll, expect, test } from "vitest";
import { onFreePort } from "../../deploy/process/free-port.js";
import type { Broker } from "../broker/broker.js";
import { startBroker } from "../broker/start-broker.js";
import type { KafkaConnection } from "../../deploy/stores/kafka/kafka-client.js";
import { createKafka } from "../../deploy/stores/kafka/kafka-client.js";
import { describeWithJava } from "../broker/suite/describe-with-broker.js";
import { BROKER_LIB } from "../broker/suite/java-broker.js";
import { makeOrganization, makePackage } from "../support/imports/make-artifacts.js";
import { startToolchain } from "../support/program/start-toolchain.js";

const USER = { username: "toolchain", password: "let me in" };
const LOGIN = "org.apache.kafka.common.security.plain.PlainLoginModule required";
const log = pino({ level: "silent" });

const { AclOperationTypes, AclPermissionTypes, AclResourceTypes, ResourcePatternTypes } = kafkajs;

describeWithJava("a broker that wants a password", () => {
  let dir: string;
  let broker: Broker;
  let brokers: readonly string[];

  /** The listener that asks for nothing is its operator's. */
  async function grantDocumentedRights(): Promise<void> {
    const admin = createKafka({ brokers: broker.brokers, clientId: "operator" }, log).admin();
    await admin.connect();
    await admin.createAcls({ acl: await documentedRights() });
    await admin.disconnect();
  }

  beforeAll(async () => {
    dir = await mkdtemp(join(tmpdir(), "kafka-sasl-"));
    // Beside the one that is waited for without a password, a listener that asks for one.
    broker = await onFreePort((open) =>
      onFreePort((asking) =>
        onFreePort((controller) => {
          brokers = [`127.0.0.1:${asking}`];
          const settings = askingSettings({ open, asking, controller });
          return startBroker({ dir, log, port: open, settings, libDir: BROKER_LIB });
        }),
      ),
    );
  });

  afterAll(async () => {
    await broker?.[Symbol.asyncDispose]();
    await rm(dir, { recursive: true, force: true });
  });

  test("leaves the connection that was given as it was, so that it can be handed to a thread", async () => {
    const connection: KafkaConnection = { brokers, clientId: "test", sasl: { mechanism: "plain", ...USER } };
    const admin = createKafka(connection, log).admin();
    await admin.connect();
    await admin.disconnect();
    expect(structuredClone(connection).sasl).toEqual({ mechanism: "plain", ...USER });
  });

  test("is one that the whole program imports on, with the rights that deploy/docs/operate/own-stores.md names", async () => {
    await grantDocumentedRights();
    const env = {
      KAFKA_BROKERS: brokers.join(","),
      KAFKA_PARTITIONS: "2",
      KAFKA_SASL_MECHANISM: "plain",
      KAFKA_SASL_USERNAME: USER.username,
      KAFKA_SASL_PASSWORD: USER.password,
    };
    await using toolchain = await startToolchain({ env });
    expect((await fetch(`${toolchain.api}/readyz`)).status).toBe(200);
    const api = await toolchain.newAccount("ada");
    const organization = await makeOrganization(api, "acme");
    const { id } = await makePackage(api, { organization, name: "files", libraryType: "other" });
    const started = await api.importBody(
      `/v2/packages/${organization}/${id}/import`,
      '{"$time":"2025-03-10"}\n',
    );
    expect(await api.pollToDone(started)).toMatchObject({ events_successfully_imported: 1 });
  });
});

/** Each `allow --topic events.raw --operation Read ...` of it. */
async function documentedRights() {
  const lines = (await readFile("deploy/docs/operate/own-stores.md", "utf8")).matchAll(
    /^allow --(topic|group) (\S+) (.+?)(?: +#.*)?$/gm,
  );
  return [...lines].flatMap(([, kind, resourceName = "", operations = ""]) =>
    [...operations.matchAll(/--operation (\w+)/g)].map(([, operation = ""]) => ({
      resourceType: kind === "topic" ? AclResourceTypes.TOPIC : AclResourceTypes.GROUP,
      resourceName,
      resourcePatternType: ResourcePatternTypes.LITERAL,
      principal: `User:${USER.username}`,
      host: "*",
      operation: OPERATIONS[operation] ?? AclOperationTypes.UNKNOWN,
      permissionType: AclPermissionTypes.ALLOW,
    })),
  );
}

/** As kafka-acls.sh names them. */
const OPERATIONS: Record<string, number> = {
  Read: AclOperationTypes.READ,
  Write: AclOperationTypes.WRITE,
  Create: AclOperationTypes.CREATE,
  DescribeConfigs: AclOperationTypes.DESCRIBE_CONFIGS,
};

function askingSettings({ open, asking, controller }: Record<"open" | "asking" | "controller", number>) {
  const listeners = `PLAINTEXT://127.0.0.1:${open},ASKING://127.0.0.1:${asking}`;
  return {
    "listener.security.protocol.map": "PLAINTEXT:PLAINTEXT,ASKING:SASL_PLAINTEXT,CONTROLLER:PLAINTEXT",
    listeners: `${listeners},CONTROLLER://127.0.0.1:${controller}`,
    "advertised.listeners": listeners,
    "controller.quorum.voters": `1@127.0.0.1:${controller}`,
    "sasl.enabled.mechanisms": "PLAIN",
    "authorizer.class.name": "org.apache.kafka.metadata.authorizer.StandardAuthorizer",
    "super.users": "User:ANONYMOUS",
    "listener.name.asking.plain.sasl.jaas.config": `${LOGIN} user_${USER.username}="${USER.password}";`,
  };
}
