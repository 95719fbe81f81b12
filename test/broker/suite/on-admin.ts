import type { Admin } from "kafkajs";
import { pino } from "pino";
import { createKafka } from "../../../deploy/stores/kafka/kafka-client.js";

/** Asks brokers as their operator does, over a connection of its own. */
export async function onAdmin<T>(brokers: readonly string[], work: (admin: Admin) => Promise<T>): Promise<T> {
  const admin = createKafka({ brokers, clientId: "operator" }, pino({ level: "silent" })).admin();
  await admin.connect();
  try {
    return await work(admin);
  } finally {
    await admin.disconnect();
  }
}
