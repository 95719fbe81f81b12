import { afterAll, beforeAll, inject } from "vitest";
import type { BrokerSettings } from "../broker-settings.js";
import { describeOrSkip } from "../../support/describe-or-skip.js";
import { openJavaBroker, type JavaTestBroker } from "./java-broker.js";
import { findJavaSource } from "./kafka-broker.js";
import type { SuiteBroker } from "../../support/stores/log-environment.js";

const OPEN_MS_MAX = 300_000;
const CI_RULE = "With CI=true the Kafka suites must run.";

/** A suite on the broker of the run, beside others. Without a broker it is skipped; with CI=true it fails. */
export function describeWithBroker(name: string, suite: (broker: () => SuiteBroker) => void): void {
  const broker = inject("suiteBroker");
  const missing = "missing" in broker ? broker.missing : undefined;
  describeOrSkip(name, { missing, ciRule: CI_RULE }, () =>
    suite(() => ("missing" in broker ? notOpen() : broker)),
  );
}

/** The same for suites that harm the broker: on one of their own, with Java, whatever else there is. */
export function describeWithJavaBroker(
  name: string,
  suite: (broker: () => JavaTestBroker) => void,
  options: { settings?: BrokerSettings } = {},
): void {
  describeWithJava(name, () => {
    let broker: JavaTestBroker | undefined;
    beforeAll(async () => {
      broker = await openJavaBroker(options);
    }, OPEN_MS_MAX);
    afterAll(() => broker?.[Symbol.asyncDispose]());
    suite(() => broker ?? notOpen());
  });
}

/** The same for suites that open their own broker of Java. */
export function describeWithJava(name: string, suite: () => void): void {
  const missing = java.kind === "none" ? java.reason : undefined;
  describeOrSkip(name, { missing, ciRule: CI_RULE }, suite);
}

const java = await findJavaSource();

function notOpen(): never {
  throw new Error("The broker is open while tests run, not while they are collected");
}
