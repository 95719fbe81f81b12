import { fetchBroker } from "../fetch-broker.js";
import { BROKER_LIB } from "./java-broker.js";
import { findJavaSource } from "./kafka-broker.js";

/** Downloads the broker, once for a clone, before the first test: none is to wait for Maven within its time-out. */
export async function setup(): Promise<void> {
  const source = await findJavaSource();
  if (source.kind !== "java") return;
  await fetchBroker(BROKER_LIB, {
    env: process.env,
    onProgress: (sentence) => process.stderr.write(`${sentence}\n`),
  });
}
