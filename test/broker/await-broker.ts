import { Kafka, logLevel } from "kafkajs";
import type { ServerProcess } from "../../deploy/stores/embedded/server-process.js";
import { untilAnswering } from "../../deploy/stores/embedded/supervise-server.js";

const ANSWER_MS_MAX = 2_000;

/** The broker at `address` (`127.0.0.1:9092`), whose data is in `dir`. Throws StartFailure when it ends before it answers. */
export async function awaitBroker(
  child: ServerProcess,
  { address, dir, timeoutMs }: { address: string; dir: string; timeoutMs?: number },
): Promise<void> {
  await untilAnswering(child, {
    name: "Kafka",
    dir,
    answers: () => answers(address),
    ...(timeoutMs !== undefined && { timeoutMs }),
  });
}

/** Whether the broker answers a metadata request that lists it. */
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
