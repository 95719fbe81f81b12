import type { TestProject } from "vitest/node";
import { findBrokerSource, openTestBroker } from "./kafka-broker.js";
import type { SuiteBroker } from "./log-environment.js";

declare module "vitest" {
  interface ProvidedContext {
    /** Or, in a sentence, what is missing. */
    suiteBroker: SuiteBroker | { missing: string };
  }
}

/** What a broker allows by default at the least (`group.min.session.timeout.ms`), and ours. */
const SESSION_MS = { given: 6_000, ours: 4_000 };
const NO_TEST = /^(?!)/;

/**
 * Opens one broker for all files of a project. Where there is none its tests are reported as skipped; with CI=true
 * each file fails (use-broker.ts).
 */
export async function setup(project: TestProject): Promise<() => Promise<void>> {
  const source = await findBrokerSource();
  if (source.kind === "none") {
    project.provide("suiteBroker", { missing: source.reason });
    if (process.env["CI"] !== "true") skipAll(project, source.reason);
    return async () => undefined;
  }
  const broker = await openTestBroker(source);
  const sessionTimeoutMs = source.kind === "given" ? SESSION_MS.given : SESSION_MS.ours;
  project.provide("suiteBroker", { brokers: broker?.brokers ?? [], sessionTimeoutMs });
  return async () => broker?.[Symbol.asyncDispose]();
}

function skipAll(project: TestProject, reason: string): void {
  process.stderr.write(`\nSKIPPED: the system suite on Kafka. ${reason}\n\n`);
  project.config.testNamePattern = NO_TEST;
}
