import { afterAll, beforeAll, describe, inject, test } from "vitest";
import type { BrokerSettings } from "../../../deploy/broker/broker-settings.js";
import { openJavaBroker } from "./java-broker.js";
import type { JavaTestBroker } from "./java-broker.js";
import { findJavaSource } from "./kafka-broker.js";
import type { SuiteBroker } from "../stores/log-environment.js";

const OPEN_MS_MAX = 300_000;

/**
 * A suite on the broker of the run, beside others. Without a broker it is reported as skipped, with what to install in
 * its title; with CI=true, where nobody reads that, it fails.
 */
export function describeWithBroker(name: string, suite: (broker: () => SuiteBroker) => void): void {
  const broker = inject("suiteBroker");
  if ("missing" in broker) describeMissing(broker.missing, { name, suite });
  else describe(name, () => suite(() => broker));
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
  if (java.kind === "none") describeMissing(java.reason, { name, suite });
  else describe(name, suite);
}

const java = await findJavaSource();

interface MissingSuite {
  name: string;
  suite: (notOpen: () => never) => void;
}

function describeMissing(reason: string, { name, suite }: MissingSuite): void {
  if (process.env["CI"] === "true")
    return void test(`${name}: there is a broker`, () => {
      throw new Error(`With CI=true the Kafka suites must run. ${reason}`);
    });
  process.stderr.write(`\nSKIPPED: ${name}. ${reason}\n\n`);
  describe.skip(`${name} (${reason})`, () => suite(notOpen));
}

function notOpen(): never {
  throw new Error("The broker is open while tests run, not while they are collected");
}
