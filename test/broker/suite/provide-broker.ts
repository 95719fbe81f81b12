import type { TestProject } from "vitest/node";
import { findBrokerSource, openTestBroker } from "./kafka-broker.js";
import type { SuiteBroker } from "../../support/stores/log-environment.js";

declare module "vitest" {
  interface ProvidedContext {
    /** Or, in a sentence, what is missing. */
    suiteBroker: ProvidedBroker;
  }
}

export type ProvidedBroker = SuiteBroker | { missing: string };

/** The least that brokers allow by default (`group.min.session.timeout.ms`), and ours. */
const SESSION_MS = { given: 6_000, ours: 4_000 };

/** Several projects use the same broker: the first one to ask opens it, the first one to end closes it. */
const once = globalThis as { suiteBroker?: ReturnType<typeof openSuiteBroker> | undefined };

/** Opens one broker for the files of all projects that do not harm theirs. */
export async function setup(project: TestProject): Promise<() => Promise<void>> {
  once.suiteBroker ??= openSuiteBroker();
  const { provided, close } = await once.suiteBroker;
  project.provide("suiteBroker", provided);
  return async () => {
    if (once.suiteBroker === undefined) return;
    once.suiteBroker = undefined;
    await close();
  };
}

async function openSuiteBroker(): Promise<{ provided: ProvidedBroker; close: () => Promise<void> }> {
  const source = await findBrokerSource();
  const broker = await openTestBroker(source);
  const provided =
    source.kind === "none"
      ? { missing: source.reason }
      : {
          brokers: broker?.brokers ?? [],
          sessionTimeoutMs: source.kind === "given" ? SESSION_MS.given : SESSION_MS.ours,
        };
  return { provided, close: async () => broker?.[Symbol.asyncDispose]() };
}
