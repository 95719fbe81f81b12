import { connectApi } from "../../../deploy/demo/api-client.js";
import { makeExporter, openRecount } from "../../support/imports/import-world.js";
import { startCluster } from "../../support/program/start-cluster.js";
import { findGivenServers, serverNames } from "../../support/shards/given-servers.js";
import { openServersDatabase, type ServersDatabase } from "../../support/shards/servers-database.js";
import { CLUSTER_FAULTS } from "../plans/fault-catalog.js";
import { openArmedPlan } from "./armed-program.js";
import { type FaultWorld, openPersistentClickHouse } from "./fault-world.js";
import { armedCluster } from "./follow-faults.js";
import { type KafkaWorldOptions, openBrokers } from "./kafka-world.js";
import { remakeReplica, whenReplicasAgree, harmServers } from "./server-faults.js";

const ORGANIZATION = "survivor";
const SESSION_TIMEOUT_MS = 4_000;
const ENVIRONMENT = { KAFKA_PARTITIONS: "6", KAFKA_SESSION_TIMEOUT_MS: String(SESSION_TIMEOUT_MS) };
const BROKER_SETTINGS = { "group.min.session.timeout.ms": SESSION_TIMEOUT_MS };

/** A process of the API, live collection and jobs, and two of enrichment, on the servers of TEST_CLICKHOUSE_SHARDS and a broker. */
export async function openClusterWorld({
  brokers = 1,
  env = {},
  faults = CLUSTER_FAULTS,
}: KafkaWorldOptions & Partial<Pick<FaultWorld, "faults">> = {}): Promise<FaultWorld> {
  const { given, control } = givenServers();
  const database = openServersDatabase(given);
  const kafka = await openBrokers(brokers, BROKER_SETTINGS);
  const armed = await openArmedPlan();
  const cluster = await startCluster({
    brokers: kafka.brokers,
    clickhouse: database.env,
    env: { ...ENVIRONMENT, ...armed.env, ...env },
  });
  const api = await cluster.add("api,collect,jobs");
  const enrichers = [await cluster.add("enrich"), await cluster.add("enrich")];
  const account = await makeExporter(api, ORGANIZATION);
  const shards = database.shards.map((urls) => urls.map((url) => openPersistentClickHouse(() => url)));
  const names = given.shards.map((shard) => serverNames([shard]));
  const programs = armedCluster(armed, {
    ...{ cluster, apis: [api], below: [kafka, database] },
    harm: (fault) =>
      harmServers(fault, {
        control,
        shards: names,
        async remake(server) {
          const shard = names.findIndex((list) => list.includes(server));
          const replica = names[shard]?.indexOf(server) ?? 0;
          await remakeReplica(database.shards[shard] ?? [], replica, () => api.admin("migrate"));
        },
      }),
  });
  return {
    ...programs,
    faults,
    programs: enrichers,
    collector: api,
    organization: ORGANIZATION,
    recountBodies: await openRecount(),
    get api() {
      return connectApi(api.api, account.token);
    },
    async disarm() {
      await programs.disarm();
      await Promise.all(shards.flat().map(whenReplicasAgree));
    },
    clickhouse: openPersistentClickHouse(inTurn(database)),
    shards,
  };
}

function givenServers() {
  const given = findGivenServers();
  if ("missing" in given) throw new Error(given.missing);
  const { control } = given;
  if (control === undefined)
    throw new Error("TEST_CLICKHOUSE_CONTROL must be a command that kills, freezes and starts the servers.");
  return { given, control };
}

/** Every server answers for all. */
function inTurn({ whole }: ServersDatabase): () => string {
  let asked = 0;
  return () => whole[asked++ % whole.length] ?? "";
}
