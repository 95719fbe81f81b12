import { spawn } from "node:child_process";
import { EventEmitter, once } from "node:events";
import { mkdir, symlink } from "node:fs/promises";
import { createServer } from "node:net";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { Kafka, logLevel } from "kafkajs";
import { pino } from "pino";
import { beforeAll, describe, expect, test } from "vitest";
import { pause } from "../../schemas/async/pause.js";
import { onFreePort } from "../../deploy/process/free-port.js";
import { KAFKA_VERSION } from "../broker/fetch-broker.js";
import { startBroker } from "../broker/start-broker.js";
import { describeWithJavaBroker } from "../broker/suite/describe-with-broker.js";
import { BROKER_LIB } from "../broker/suite/java-broker.js";
import { pidsIn } from "../support/program/toolchain-process.js";
import { useFolder } from "../support/use-folder.js";

const log = pino({ level: "silent" });
const connect = (brokers: readonly string[]) =>
  new Kafka({
    brokers: [...brokers],
    logLevel: logLevel.NOTHING,
    retry: { initialRetryTime: 100, maxRetryTime: 1_000, retries: 60 },
  });

/** Sends one record for each value, one at a time, so that each is acknowledged, and told, before the next. */
async function produce(
  brokers: readonly string[],
  topic: string,
  { values, onSent = () => undefined }: { values: readonly string[]; onSent?: (value: string) => void },
): Promise<void> {
  const producer = connect(brokers).producer({ idempotent: true, maxInFlightRequests: 1 });
  await producer.connect();
  for (const value of values) {
    await producer.send({ topic, acks: -1, messages: [{ value }] });
    onSent(value);
  }
  await producer.disconnect();
}

/** The first `count` values of the topic. */
async function consume(brokers: readonly string[], topic: string, count: number): Promise<string[]> {
  const consumer = connect(brokers).consumer({
    groupId: `${topic}-${Date.now()}`,
    maxWaitTimeInMs: 100, // its end waits for the fetch at hand
  });
  const values: string[] = [];
  await consumer.connect();
  await consumer.subscribe({ topic, fromBeginning: true });
  await consumer.run({ eachMessage: async ({ message }) => void values.push(String(message.value)) });
  await expect.poll(() => values.length).toBeGreaterThanOrEqual(count);
  await consumer.disconnect();
  return values;
}

async function createTopic(brokers: readonly string[], topic: string): Promise<void> {
  const admin = connect(brokers).admin();
  await admin.connect();
  await admin.createTopics({ topics: [{ topic, numPartitions: 1 }], waitForLeaders: true });
  await admin.disconnect();
}

const numbered = (count: number) => Array.from({ length: count }, (_, index) => `record ${index}`);

describeWithJavaBroker("a broker of Java and Maven", (broker) => {
  test("gives back what was sent to it", async () => {
    const { brokers } = broker();
    await createTopic(brokers, "round-trip");
    await produce(brokers, "round-trip", { values: numbered(20) });
    expect(await consume(brokers, "round-trip", 20)).toEqual(numbered(20));
  });

  test("makes no topic because somebody asked for it", async () => {
    const producer = connect(broker().brokers).producer({ retry: { retries: 4 } });
    await producer.connect();
    await expect(producer.send({ topic: "never-made", messages: [{ value: "lost" }] })).rejects.toMatchObject(
      { cause: { type: "UNKNOWN_TOPIC_OR_PARTITION" } },
    );
    await producer.disconnect();
  });

  test("keeps every acknowledged record, once and in order, when it is killed and started again", async () => {
    const { brokers } = broker();
    await createTopic(brokers, "killed");
    const sent = new EventEmitter();
    const underway = once(sent, "record 100");
    const onSent = (value: string) => void sent.emit(value);
    const producing = produce(brokers, "killed", { values: numbered(400), onSent });
    await underway;
    await broker().kill("SIGKILL");
    await broker().restart();
    expect(broker().brokers).toEqual(brokers);
    await producing;
    expect(await consume(brokers, "killed", 400)).toEqual(numbered(400));
  });

  test("answers nobody while it is frozen, and goes on where it was", async () => {
    const { brokers } = broker();
    await createTopic(brokers, "frozen");
    broker().freeze();
    let sent = false;
    const producing = produce(brokers, "frozen", { values: ["one"] }).then(() => (sent = true));
    await pause(200);
    expect(sent).toBe(false);
    broker().continue();
    await producing;
    expect(await consume(brokers, "frozen", 1)).toEqual(["one"]);
  });

  describe("`npm run kafka`", () => {
    const dataDir = useFolder("kafka-command");

    beforeAll(async () => {
      await mkdir(join(dataDir, "kafka"), { mode: 0o700 });
      // The suite's broker has been downloaded; once is enough.
      await symlink(BROKER_LIB, join(dataDir, "kafka", `lib-${KAFKA_VERSION}`));
    });

    /** As `npm run kafka` starts it. */
    const runKafka = (port: number) =>
      spawn(process.execPath, ["--import=tsx", "test/broker/main.ts", "--java", `--port=${port}`], {
        env: { ...process.env, DATA_DIR: dataDir },
        stdio: ["ignore", "pipe", "pipe"],
      });

    async function textUntil(program: ReturnType<typeof runKafka>, part: string): Promise<string> {
      let text = "";
      program.stdout.on("data", (piece: Buffer) => (text += piece.toString()));
      program.stderr.on("data", (piece: Buffer) => (text += piece.toString()));
      await expect.poll(() => text, { timeout: 600_000 }).toContain(part);
      return text;
    }

    test("says where it listens and how to use it, refuses a second one, and ends cleanly with status 0", async () => {
      await onFreePort(async (port) => {
        const program = runKafka(port);
        const text = await textUntil(program, "Ctrl-C stops it.");
        expect(text).toContain(`KAFKA_BROKERS=127.0.0.1:${port} npm start`);
        await createTopic([`127.0.0.1:${port}`], "kept");
        await produce([`127.0.0.1:${port}`], "kept", { values: ["still here"] });

        const second = runKafka(port + 1);
        const refused = textUntil(second, "is in use by process");
        expect(await once(second, "exit")).toEqual([1, null]);
        expect(await refused).toContain(`process ${program.pid}`);

        program.kill("SIGINT");
        expect(await once(program, "exit")).toEqual([0, null]);
        expect(pidsIn(dataDir)).toEqual([]);
      });
    });

    test("finds its records again, and leaves no broker behind when it is killed", async () => {
      await onFreePort(async (port) => {
        const program = runKafka(port);
        await textUntil(program, "Ctrl-C stops it.");
        expect(await consume([`127.0.0.1:${port}`], "kept", 1)).toEqual(["still here"]);
        program.kill("SIGKILL");
        await expect.poll(() => pidsIn(dataDir)).toEqual([]);
      });
    });
  });

  describe("surroundings that are wrong", () => {
    const dir = useFolder("kafka-wrong");

    test("names the port that is taken", async () => {
      const server = createServer().listen(0, "127.0.0.1");
      await once(server, "listening");
      const { port } = server.address() as AddressInfo;
      await expect(startBroker({ dir, log, port, libDir: BROKER_LIB })).rejects.toThrow(
        `Port ${port} on 127.0.0.1 is taken`,
      );
      server.close();
    });

    test("shows the end of its log when it refuses its settings", async () => {
      const settings = { "num.io.threads": 0 };
      await expect(startBroker({ dir, log, settings, libDir: BROKER_LIB })).rejects.toThrow(
        /did not start \(exit status 1\)[^]*num\.io\.threads/,
      );
    });
  });
});

describe("a broker that cannot be", () => {
  const dir = useFolder("kafka-refused");

  test("without Java says what to install", async () => {
    await expect(startBroker({ dir: join(dir, "kafka"), log, env: { PATH: dir } })).rejects.toThrow(
      /needs Java 17 or newer, and PATH has none: install it .*apt install openjdk/,
    );
  });

  test("gives its folder back when it does not start", async () => {
    for (const _ of [1, 2])
      await expect(startBroker({ dir: join(dir, "kafka"), log, env: { PATH: dir } })).rejects.toThrow(/Java/);
  });
});
