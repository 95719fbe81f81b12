import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pino } from "pino";
import { afterAll, beforeAll, expect, test } from "vitest";
import { onFreePort } from "../../deploy/free-port.js";
import type { Broker } from "../../deploy/kafka/broker/broker.js";
import { startBroker } from "../../deploy/kafka/broker/start-broker.js";
import { createKafka, type KafkaConnection } from "../../deploy/kafka/kafka-client.js";
import { describeWithJava } from "../support/describe-with-broker.js";
import { BROKER_LIB } from "../support/java-broker.js";
import { startToolchain } from "../support/start-toolchain.js";

const USER = { username: "toolchain", password: "let me in" };
const LOGIN = "org.apache.kafka.common.security.plain.PlainLoginModule required";
const log = pino({ level: "silent" });

describeWithJava("a broker that wants a password", () => {
  let dir: string;
  let broker: Broker;
  let brokers: readonly string[];

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
  }, 300_000);

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

  test("is one that the whole program becomes ready on", async () => {
    const env = {
      KAFKA_BROKERS: brokers.join(","),
      KAFKA_PARTITIONS: "2",
      KAFKA_SASL_MECHANISM: "plain",
      KAFKA_SASL_USERNAME: USER.username,
      KAFKA_SASL_PASSWORD: USER.password,
    };
    await using toolchain = await startToolchain({ env });
    expect((await fetch(`${toolchain.api}/readyz`)).status).toBe(200);
  });
});

function askingSettings({ open, asking, controller }: Record<"open" | "asking" | "controller", number>) {
  const listeners = `PLAINTEXT://127.0.0.1:${open},ASKING://127.0.0.1:${asking}`;
  return {
    "listener.security.protocol.map": "PLAINTEXT:PLAINTEXT,ASKING:SASL_PLAINTEXT,CONTROLLER:PLAINTEXT",
    listeners: `${listeners},CONTROLLER://127.0.0.1:${controller}`,
    "advertised.listeners": listeners,
    "controller.quorum.voters": `1@127.0.0.1:${controller}`,
    "sasl.enabled.mechanisms": "PLAIN",
    "listener.name.asking.plain.sasl.jaas.config": `${LOGIN} user_${USER.username}="${USER.password}";`,
  };
}
