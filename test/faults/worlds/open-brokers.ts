import type { BrokerSettings } from "../../broker/broker-settings.js";
import { openJavaBroker, openJavaCluster } from "../../support/broker/java-broker.js";

/** One broker, or three of one cluster, with Kafka's settings besides ours. */
export async function openBrokers(count: 1 | 3, settings: BrokerSettings) {
  if (count > 1) return openJavaCluster({ settings });
  const broker = await openJavaBroker({ settings });
  return { brokers: broker.brokers, members: [broker], [Symbol.asyncDispose]: broker[Symbol.asyncDispose] };
}
