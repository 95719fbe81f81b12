import { onFreePort } from "../../../deploy/process/free-port.js";
import { dockerEnvironment, isDockerThere, KAFKA_IMAGE } from "../docker-broker.js";
import { isFetched } from "../fetch-broker.js";
import { findJava, findMaven } from "../find-java.js";
import type { Environment } from "../find-java.js";
import { StartFailure } from "../../../deploy/process/start-failure.js";
import { BROKER_LIB, openJavaBroker } from "./java-broker.js";
import type { TestBroker } from "./test-broker.js";

/** The source of a broker for tests; `none` says what to install. */
export type BrokerSource =
  | { kind: "given"; brokers: readonly string[] }
  | { kind: "docker" }
  | { kind: "java" }
  | { kind: "none"; reason: string };

const OPEN_MS_MAX = 300_000;

/** The first of: KAFKA_BROKERS, Docker, Java with Maven or with a broker that was downloaded before. */
export async function findBrokerSource(
  env: Environment = process.env,
  libDir = BROKER_LIB,
): Promise<BrokerSource> {
  const brokers = (env["KAFKA_BROKERS"] ?? "").split(",").filter((broker) => broker !== "");
  if (brokers.length > 0) return { kind: "given", brokers };
  if (await isDockerThere(env)) return { kind: "docker" };
  return findJavaSource(env, libDir);
}

/** The same for those who can use a broker of Java alone. */
export async function findJavaSource(
  env: Environment = process.env,
  libDir = BROKER_LIB,
): Promise<BrokerSource> {
  try {
    await findJava(env);
    if (!isFetched(libDir)) await findMaven(env);
    return { kind: "java" };
  } catch (error) {
    if (!(error instanceof StartFailure)) throw error;
    return { kind: "none", reason: error.message };
  }
}

/** A broker of the source, new unless it is given; undefined where there is none. */
export async function openTestBroker(source?: BrokerSource): Promise<TestBroker | undefined> {
  const from = source ?? (await findBrokerSource());
  switch (from.kind) {
    case "given":
      return { brokers: from.brokers, [Symbol.asyncDispose]: async () => undefined };
    case "docker":
      return openDockerBroker();
    case "java":
      return openJavaBroker();
    case "none":
      return undefined;
  }
}

/** On the same port inside and outside: a broker tells its clients where it is. */
async function openDockerBroker(): Promise<TestBroker> {
  const { GenericContainer, Wait } = await import("testcontainers");
  return onFreePort(async (port) => {
    const container = await new GenericContainer(KAFKA_IMAGE)
      .withEnvironment(dockerEnvironment(port))
      .withExposedPorts({ container: port, host: port })
      .withWaitStrategy(Wait.forLogMessage(/Kafka Server started/))
      .withStartupTimeout(OPEN_MS_MAX)
      .start();
    return {
      brokers: [`${container.getHost()}:${port}`],
      [Symbol.asyncDispose]: async () => void (await container.stop()),
    };
  });
}
