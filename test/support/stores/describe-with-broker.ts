import { afterAll, beforeAll, describe, test } from "vitest";
import type { BrokerSettings } from "../../../deploy/broker/broker-settings.js";
import { openJavaBroker } from "./java-broker.js";
import type { JavaTestBroker } from "./java-broker.js";
import { findBrokerSource, findJavaSource, openTestBroker } from "./kafka-broker.js";
import type { BrokerSource } from "./kafka-broker.js";
import type { TestBroker } from "./test-broker.js";

const OPEN_MS_MAX = 300_000;

/**
 * A suite on a broker of its own, from whatever source there is. Where there is none it is reported as skipped, with
 * what to install in its title; with CI=true, where nobody reads that, it fails.
 */
export function describeWithBroker(name: string, suite: (broker: () => TestBroker) => void): void {
  describeFrom(found, { name, open: () => openTestBroker(found), suite });
}

/** The same for suites that harm the broker: with Java, whatever else there is. */
export function describeWithJavaBroker(
  name: string,
  suite: (broker: () => JavaTestBroker) => void,
  options: { settings?: BrokerSettings } = {},
): void {
  describeFrom(foundJava, { name, open: () => openJavaBroker(options), suite });
}

/** The same for suites that open their own broker of Java. */
export function describeWithJava(name: string, suite: () => void): void {
  if (foundJava.kind === "none") describeMissing(foundJava.reason, { name, suite });
  else describe(name, suite);
}

const found = await findBrokerSource();
const foundJava = found.kind === "java" ? found : await findJavaSource();

interface BrokerSuite<B extends TestBroker> {
  name: string;
  open: () => Promise<B | undefined>;
  suite: (broker: () => B) => void;
}

function describeFrom<B extends TestBroker>(
  source: BrokerSource,
  { name, open, suite }: BrokerSuite<B>,
): void {
  if (source.kind === "none") return describeMissing(source.reason, { name, suite });
  describe(name, () => {
    let broker: B | undefined;
    beforeAll(async () => {
      broker = await open();
    }, OPEN_MS_MAX);
    afterAll(() => broker?.[Symbol.asyncDispose]());
    suite(() => broker ?? notOpen());
  });
}

function describeMissing(reason: string, { name, suite }: Pick<BrokerSuite<never>, "name" | "suite">): void {
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
