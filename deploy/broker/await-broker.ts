import { Kafka, logLevel } from "kafkajs";
import { storeFailure } from "../process/start-failure.js";
import type { ServerProcess } from "../stores/embedded/server-process.js";

export interface AwaitedBroker {
  /** `127.0.0.1:9092` */
  address: string;
  /** Its data folder, for error messages. */
  dir: string;
  timeoutMs?: number;
}

// Recovery after a crash takes long. A process that hangs is given up after this time.
const READY_MS_MAX = 120_000;
const POLL_MS = 50;
const ANSWER_MS_MAX = 2_000;

/** Resolves when the broker answers a metadata request that lists it. Throws StartFailure when it ends before. */
export async function awaitBroker(child: ServerProcess, awaited: AwaitedBroker): Promise<void> {
  const { address, dir, timeoutMs = READY_MS_MAX } = awaited;
  const deadline = performance.now() + timeoutMs;
  while (!(await answers(address))) {
    if (await child.isGoneWithin(POLL_MS)) throw failure(`did not start (${await child.gone})`);
    if (performance.now() > deadline) throw failure(`does not answer after ${timeoutMs / 1000} s`);
  }

  function failure(what: string) {
    return storeFailure(`Kafka on ${dir} ${what}`, { dir, tail: child.tail() });
  }
}

async function answers(address: string): Promise<boolean> {
  const admin = new Kafka({
    brokers: [address],
    connectionTimeout: ANSWER_MS_MAX,
    requestTimeout: ANSWER_MS_MAX,
    retry: { retries: 0 },
    logLevel: logLevel.NOTHING,
  }).admin();
  try {
    await admin.connect();
    const { brokers } = await admin.describeCluster();
    // Another broker of the cluster may answer on behalf of one that is not in service yet.
    return brokers.some(({ port }) => address.endsWith(`:${port}`));
  } catch {
    return false; // Retried: a permanent fault ends the process or exceeds the time limit.
  } finally {
    await admin.disconnect();
  }
}
