import kafkajs from "kafkajs";
import { pino } from "pino";
import { pause } from "../../../schemas/async/pause.js";
import { createKafka } from "../../../deploy/stores/kafka/kafka-client.js";
import { ENRICH_GROUP } from "../../../schemas/records/event-log.js";
import type { JavaTestBroker } from "../../broker/suite/java-broker.js";
import type { Toolchain } from "../../support/program/start-toolchain.js";
import type { PlannedFault } from "../plans/plan-seed.js";

const { AclOperationTypes, AclPermissionTypes, AclResourceTypes, ResourcePatternTypes } = kafkajs;

export interface Group {
  broker: JavaTestBroker;
  enrichers: readonly Toolchain[];
}

/** A zombie writes what it has in hand at once when it goes on. */
const WAKING_MS = 1_000;

/**
 * Carries out the part of a fault outside of the process that passed its point: the end of an outage, or harm to the
 * others of the group.
 * @returns whether it struck
 */
export async function harmGroup(
  { action, delayMs }: PlannedFault,
  { broker, enrichers, passer }: Group & { passer: number },
): Promise<boolean> {
  switch (action) {
    case "kill broker":
      await pause(delayMs);
      await broker.restart();
      return true;
    case "freeze broker":
      await pause(delayMs);
      broker.continue();
      return true;
    case "freeze program":
      await pause(delayMs + WAKING_MS);
      return true;
    case "leave group":
      await enrichers.find(({ pid }) => pid !== passer)?.kill("SIGTERM");
      return true;
    case "refuse group":
      return refuseGroup({ broker, enrichers });
    case "kill program":
    case "cut power":
    case "kill clickhouse":
    case "kill postgres":
    case "fill disk":
    case "break view":
    case "kill replica":
    case "freeze replica":
    case "kill keeper":
    case "kill shard":
    case "lose replica":
    case "cut replica":
    case "cut shard":
      return true;
  }
}

const REFUSALS_MAX = 4;
const REFUSED_MS = 2_500;
/** Longer than a worker pauses between two tries. */
const ALLOWED_MS = 6_000;
const POLL_MS = 50;

/**
 * An administrator takes the right to the group away, until a worker ended for that: what kafkajs meets is an error
 * that it does not try again, the end of the consumer in a process that lives. A worker that is refused a commit waits,
 * as it has to; then the right comes back for a moment.
 */
async function refuseGroup({ broker, enrichers }: Group): Promise<boolean> {
  const hasCrashed = watchForEnd(enrichers);
  await using admin = await openAdmin(broker);
  for (let refusal = 0; refusal < REFUSALS_MAX; refusal++) {
    await admin.client.createAcls({ acl: [REFUSED] });
    try {
      for (const until = Date.now() + REFUSED_MS; Date.now() < until; await pause(POLL_MS))
        if (hasCrashed()) return true;
    } finally {
      await admin.client.deleteAcls({ filters: [REFUSED] });
    }
    await pause(ALLOWED_MS);
  }
  return false;
}

const REFUSED = {
  resourceType: AclResourceTypes.GROUP,
  resourceName: ENRICH_GROUP,
  resourcePatternType: ResourcePatternTypes.LITERAL,
  principal: "User:ANONYMOUS",
  host: "*",
  operation: AclOperationTypes.ALL,
  permissionType: AclPermissionTypes.DENY,
};

/** Whether one of them has said since that a worker ended. */
function watchForEnd(enrichers: readonly Toolchain[]): () => boolean {
  const before = enrichers.map((enricher) => ({ pid: enricher.pid, length: enricher.log().length }));
  return () =>
    enrichers.some((enricher, index) => {
      const from = before[index]?.pid === enricher.pid ? before[index]?.length : 0;
      return enricher.log().slice(from).includes("an enrichment worker ended");
    });
}

async function openAdmin({ brokers }: JavaTestBroker) {
  const client = createKafka({ brokers, clientId: "administrator" }, pino({ level: "silent" })).admin();
  await client.connect();
  return { client, [Symbol.asyncDispose]: () => client.disconnect() };
}
