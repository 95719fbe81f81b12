import { execFile } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { pino } from "pino";
import { afterAll, beforeAll, expect, test } from "vitest";
import { parseConfig } from "../../deploy/config/config.js";
import { onFreePorts } from "../../deploy/process/free-port.js";
import { openEventLog } from "../../deploy/stores/open-event-log.js";
import type { Broker } from "../broker/broker.js";
import { startBroker } from "../broker/start-broker.js";
import { describeWithJava } from "../broker/suite/describe-with-broker.js";
import { BROKER_LIB } from "../broker/suite/java-broker.js";
import { expectImport } from "../support/imports/expect-import.js";
import { type Authority, joinPem, makeAuthority } from "../support/networks/make-authority.js";

const USER = { username: "toolchain", password: "let-me-in" };
const log = pino({ level: "silent" });

describeWithJava("a broker with certificates of an authority of one's own", () => {
  let dir: string;
  let authority: Authority;
  let broker: Broker;
  /** By what they ask for: a user and a password, or a certificate. */
  let listeners: Record<"scram" | "mutual", Record<string, string>>;

  beforeAll(async () => {
    dir = mkdtempSync(join(tmpdir(), "kafka-tls-"));
    authority = makeAuthority(dir, "ours");
    broker = await onFreePorts(4, ([open = 0, scram = 0, mutual = 0, controller = 0]) => {
      listeners = { scram: brokersAt(scram), mutual: brokersAt(mutual) };
      const settings = secureSettings({ open, scram, mutual, controller }, { dir, authority });
      return startBroker({ dir: join(dir, "broker"), log, port: open, settings, libDir: BROKER_LIB });
    });
    await makeUser(broker);
  });

  afterAll(async () => {
    await broker?.[Symbol.asyncDispose]();
    rmSync(dir, { recursive: true, force: true });
  });

  // Its certificate is for a name, not for an address.
  const brokersAt = (port: number) => ({ KAFKA_BROKERS: `localhost:${port}`, KAFKA_PARTITIONS: "2" });
  const asUser = (mechanism: string, password = USER.password) => ({
    KAFKA_TLS: `ca=${authority.ca}`,
    KAFKA_SASL_MECHANISM: mechanism,
    KAFKA_SASL_USERNAME: USER.username,
    KAFKA_SASL_PASSWORD: password,
  });

  test("is one that the whole program imports on with SCRAM", () =>
    expectImport({ ...listeners.scram, ...asUser("scram-sha-256") }));

  test("is one that the whole program imports on with a certificate of its own", () => {
    const { cert, key } = authority.issue("client", "DNS:client");
    const files = `ca=${authority.ca},cert=${cert},key=${key}`;
    return expectImport({ ...listeners.mutual, KAFKA_TLS: files, KAFKA_TOPIC_PREFIX: "mutual." });
  });

  async function refusal(env: Record<string, string>): Promise<string> {
    return openEventLog({ kafka: kafkaOf(env) }, log).then(
      () => "none",
      (error: Error) => error.message,
    );
  }

  test("is opened with the longer SCRAM too, and refused in sentences that say what to set", async () => {
    const theirs = makeAuthority(dir, "theirs");
    const unknown = theirs.issue("client", "DNS:client");
    const { scram, mutual } = listeners;
    const trusted = `ca=${authority.ca}`;
    const [longer, authorities, name, password, certificate, wrongCertificate] = await Promise.all([
      openEventLog({ kafka: kafkaOf({ ...scram, ...asUser("scram-sha-512") }) }, log),
      refusal({ ...scram, ...asUser("scram-sha-256"), KAFKA_TLS: `ca=${theirs.ca}` }),
      refusal({
        ...scram,
        ...asUser("scram-sha-256"),
        KAFKA_BROKERS: scram.KAFKA_BROKERS?.replace("localhost", "127.0.0.1") ?? "",
      }),
      refusal({ ...scram, ...asUser("scram-sha-256", "wrong") }),
      refusal({ ...mutual, KAFKA_TLS: trusted }),
      refusal({ ...mutual, KAFKA_TLS: `${trusted},cert=${unknown.cert},key=${unknown.key}` }),
    ]);
    await longer[Symbol.asyncDispose]();
    expect(authorities).toContain("set ca in KAFKA_TLS to a PEM file with the certificate of its authority");
    expect(name).toContain("certificate is not valid for the host name in KAFKA_BROKERS");
    expect(password).toContain("SASL SCRAM SHA256 authentication failed");
    expect(certificate).toContain("set cert and key in KAFKA_TLS");
    expect(wrongCertificate).toContain("set cert and key in KAFKA_TLS");
  });
});

function kafkaOf(env: Record<string, string>) {
  const { kafka } = parseConfig(env);
  if (kafka === undefined) throw new Error("KAFKA_BROKERS is not set");
  return kafka;
}

/** With Kafka's own tool, over the listener that asks for nothing: it is the operator's. It takes one mechanism at a time. */
async function makeUser({ brokers }: Broker): Promise<void> {
  for (const mechanism of ["SCRAM-SHA-256", "SCRAM-SHA-512"]) {
    const config = `${mechanism}=[iterations=4096,password=${USER.password}]`;
    const user = ["--entity-type", "users", "--entity-name", USER.username];
    const args = ["--bootstrap-server", brokers.join(","), "--alter", "--add-config", config, ...user];
    await promisify(execFile)("java", ["-cp", join(BROKER_LIB, "*"), "kafka.admin.ConfigCommand", ...args]);
  }
}

function secureSettings(
  { open, scram, mutual, controller }: Record<"open" | "scram" | "mutual" | "controller", number>,
  { dir, authority }: { dir: string; authority: Authority },
) {
  const keys = joinPem(join(dir, "broker.pem"), authority.issue("broker", "DNS:localhost"));
  const protocols = "PLAINTEXT:PLAINTEXT,SCRAM:SASL_SSL,MUTUAL:SSL,CONTROLLER:PLAINTEXT";
  return {
    "listener.security.protocol.map": protocols,
    listeners: `PLAINTEXT://127.0.0.1:${open},SCRAM://127.0.0.1:${scram},MUTUAL://127.0.0.1:${mutual},CONTROLLER://127.0.0.1:${controller}`,
    "advertised.listeners": `PLAINTEXT://127.0.0.1:${open},SCRAM://localhost:${scram},MUTUAL://localhost:${mutual}`,
    "controller.quorum.voters": `1@127.0.0.1:${controller}`,
    "ssl.keystore.type": "PEM",
    "ssl.keystore.location": keys,
    "ssl.truststore.type": "PEM",
    "ssl.truststore.location": authority.ca,
    "listener.name.mutual.ssl.client.auth": "required",
    "sasl.enabled.mechanisms": "SCRAM-SHA-256,SCRAM-SHA-512",
    "listener.name.scram.scram-sha-256.sasl.jaas.config": SCRAM_LOGIN,
    "listener.name.scram.scram-sha-512.sasl.jaas.config": SCRAM_LOGIN,
  };
}

const SCRAM_LOGIN = "org.apache.kafka.common.security.scram.ScramLoginModule required;";
