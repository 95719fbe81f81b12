import { pause } from "../../../schemas/async/pause.js";
import { connectApi } from "../../../deploy/demo/api-client.js";
import { openJavaBroker } from "../../support/broker/java-broker.js";
import { makeExporter } from "../../support/imports/import-world.js";
import { onPostgres } from "../../support/stores/on-postgres.js";
import { openRecount } from "../../support/imports/open-recount.js";
import { startCluster } from "../../support/program/start-cluster.js";
import type { Toolchain } from "../../support/program/start-toolchain.js";
import { openArmedPlan, type ArmedPlan } from "./armed-plan.js";
import { KAFKA_FAULTS } from "../plans/fault-catalog.js";
import type { FaultWorld } from "./fault-world.js";
import { harmGroup, type Group } from "./group-faults.js";
import { openPersistentClickHouse } from "./persistent-clickhouse.js";
import type { PlannedFault } from "../plans/plan-seed.js";
import { supervise } from "./supervise.js";
import { FAULT_MS_MAX, whenReady } from "./when-ready.js";

const ORGANIZATION = "survivor";
const SESSION_TIMEOUT_MS = 2_000;

const BROKER_SETTINGS = {
  "group.min.session.timeout.ms": SESSION_TIMEOUT_MS,
  // Everybody may do everything, until a fault takes a right away.
  "authorizer.class.name": "org.apache.kafka.metadata.authorizer.StandardAuthorizer",
  "allow.everyone.if.no.acl.found": true,
};

const ENVIRONMENT = { KAFKA_PARTITIONS: "6", KAFKA_SESSION_TIMEOUT_MS: String(SESSION_TIMEOUT_MS) };

/** Two processes of the API, two of enrichment and one of jobs, on stores and a broker that run by themselves. */
export async function openKafkaWorld(): Promise<FaultWorld> {
  const broker = await openJavaBroker({ settings: BROKER_SETTINGS });
  const armed = await openArmedPlan();
  const cluster = await startCluster({
    brokers: broker.brokers,
    env: (storesDir) => ({ ...ENVIRONMENT, ...armed.env, FAULT_STORES_DIR: storesDir }),
  });
  const apis = [await cluster.add("api"), await cluster.add("api")];
  const enrichers = [await cluster.add("enrich"), await cluster.add("enrich")];
  await cluster.add("jobs");
  const [first] = apis as [Toolchain];
  const account = await makeExporter(first, ORGANIZATION);
  const supervisors = cluster.members.map(supervise);
  const whenRunning = async () => void (await Promise.all(supervisors.map((each) => each.whenRunning())));
  const group = followFaults(armed, { broker, enrichers });
  let asked = 0;
  return {
    faults: KAFKA_FAULTS,
    programs: enrichers,
    organization: ORGANIZATION,
    recountBodies: await openRecount(),
    get api() {
      return connectApi(apis[asked++ % apis.length]?.api ?? "", account.token);
    },
    arm: (faults) => group.arm(faults),
    async disarm() {
      await group.disarm();
      await whenRunning();
      await Promise.all(apis.map(whenReady));
    },
    carriedOut: async () => group.struck(),
    withPostgres: (work) => onPostgres(cluster.postgresUrl, work),
    clickhouse: openPersistentClickHouse(() => cluster.clickhouseUrl),
    whenRunning,
    async [Symbol.asyncDispose]() {
      await Promise.all(supervisors.map((each) => each.stop()));
      await cluster[Symbol.asyncDispose]();
      await broker[Symbol.asyncDispose]();
      await armed[Symbol.asyncDispose]();
    },
  };
}

const LOOK_EVERY_MS = 20;

/** Does the part of each fault that goes on outside of the process that passed its point. */
function followFaults(armed: ArmedPlan, group: Group) {
  let following = { stop: () => undefined as void, ended: Promise.resolve(new Map<number, boolean>()) };
  let struck = new Map<number, boolean>();
  return {
    async arm(faults: readonly PlannedFault[]): Promise<void> {
      await armed.put(faults, { brokerPid: group.broker.pid });
      following = follow(faults);
    },
    async disarm(): Promise<void> {
      await armed.clear();
      await pause(FAULT_MS_MAX);
      following.stop();
      struck = await following.ended;
    },
    struck: () => new Set([...struck].flatMap(([index, didStrike]) => (didStrike ? [index] : []))),
  };

  function follow(faults: readonly PlannedFault[]) {
    let last = false;
    const harming = new Map<number, Promise<boolean>>();
    const look = async () => {
      for (const [index, passer] of await armed.carriedOut())
        if (!harming.has(index))
          harming.set(index, harmGroup(faults[index] as PlannedFault, { ...group, passer }));
    };
    const run = async () => {
      for (; !last; await pause(LOOK_EVERY_MS)) await look();
      await look();
      const ends = [...harming].map(async ([index, end]): Promise<[number, boolean]> => [index, await end]);
      return new Map(await Promise.all(ends));
    };
    return { stop: () => void (last = true), ended: run() };
  }
}
