import { connectApi } from "../../../deploy/demo/api-client.js";
import { type JavaTestBroker, openJavaBroker, openJavaCluster } from "../../broker/suite/java-broker.js";
import { makeExporter, openRecount } from "../../support/imports/import-world.js";
import { startCluster } from "../../support/program/start-cluster.js";
import type { Toolchain } from "../../support/program/start-toolchain.js";
import { openArmedPlan } from "./armed-program.js";
import { KAFKA_FAULTS, THREE_BROKER_FAULTS } from "../plans/fault-catalog.js";
import { type FaultWorld, type WorldOptions, openPersistentClickHouse } from "./fault-world.js";
import { armedCluster } from "./follow-faults.js";
import { harmGroup } from "./group-faults.js";
import type { BrokerSettings } from "../../broker/broker-settings.js";

const ORGANIZATION = "survivor";
const SESSION_TIMEOUT_MS = 2_000;

const SESSIONS = { "group.min.session.timeout.ms": SESSION_TIMEOUT_MS };
const WITH_RIGHTS = {
  ...SESSIONS,
  // Everybody may do everything, until a fault takes a right away.
  "authorizer.class.name": "org.apache.kafka.metadata.authorizer.StandardAuthorizer",
  "allow.everyone.if.no.acl.found": true,
};

const ENVIRONMENT = { KAFKA_PARTITIONS: "6", KAFKA_SESSION_TIMEOUT_MS: String(SESSION_TIMEOUT_MS) };

export interface KafkaWorldOptions extends WorldOptions {
  /** 3 are one cluster, of which each seed harms another one; 1 by default. */
  brokers?: 1 | 3;
}

/** Two processes of the API, two of enrichment and one of live collection and jobs, on stores and brokers that run by themselves. */
export async function openKafkaWorld({ brokers = 1, env = {} }: KafkaWorldOptions = {}): Promise<FaultWorld> {
  const kafka = await openBrokers(brokers, brokers === 1 ? WITH_RIGHTS : SESSIONS);
  const armed = await openArmedPlan();
  const cluster = await startCluster({
    brokers: kafka.brokers,
    env: (storesDir) => ({ ...ENVIRONMENT, ...armed.env, ...env, FAULT_STORES_DIR: storesDir }),
  });
  const apis = [await cluster.add("api"), await cluster.add("api")];
  const enrichers = [await cluster.add("enrich"), await cluster.add("enrich")];
  const collector = await cluster.add("collect,jobs");
  const [first] = apis as [Toolchain];
  const account = await makeExporter(first, ORGANIZATION);
  let armings = 0;
  const victim = () => kafka.members[armings % kafka.members.length] as JavaTestBroker;
  const programs = armedCluster(armed, {
    ...{ cluster, apis, below: [kafka] },
    targets() {
      armings += 1;
      return { brokerPid: victim().pid };
    },
    harm: (fault, passer) => harmGroup(fault, { broker: victim(), enrichers, passer }),
  });
  const clickhouse = openPersistentClickHouse(() => cluster.clickhouseUrl);
  let asked = 0;
  return {
    ...programs,
    faults: brokers === 1 ? KAFKA_FAULTS : THREE_BROKER_FAULTS,
    programs: enrichers,
    collector,
    organization: ORGANIZATION,
    recountBodies: await openRecount(),
    get api() {
      return connectApi(apis[asked++ % apis.length]?.api ?? "", account.token);
    },
    clickhouse,
    shards: [[clickhouse]],
  };
}

/** One broker, or three of one cluster, with Kafka's settings besides ours. */
export async function openBrokers(count: 1 | 3, settings: BrokerSettings) {
  if (count > 1) return openJavaCluster({ settings });
  const broker = await openJavaBroker({ settings });
  return { brokers: broker.brokers, members: [broker], [Symbol.asyncDispose]: broker[Symbol.asyncDispose] };
}
