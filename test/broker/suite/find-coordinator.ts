import type { JavaTestBroker, JavaTestCluster } from "./java-broker.js";
import { onAdmin } from "./on-admin.js";

/** The broker that coordinates a group: it leads the group's partition of Kafka's own topic of offsets. */
export function findCoordinator(
  { brokers, members }: JavaTestCluster,
  group: string,
): Promise<JavaTestBroker> {
  return onAdmin(brokers, async (admin) => {
    const { topics } = await admin.fetchTopicMetadata({ topics: [OFFSETS_TOPIC] });
    const partitions = topics[0]?.partitions ?? [];
    const partition = hashOf(group) % partitions.length;
    const leader = partitions.find(({ partitionId }) => partitionId === partition)?.leader;
    const cluster = await admin.describeCluster();
    const address = cluster.brokers.find(({ nodeId }) => nodeId === leader);
    const found = members.find((member) => member.brokers[0] === `${address?.host}:${address?.port}`);
    if (found === undefined) throw new Error(`no broker coordinates the group ${group}`);
    return found;
  });
}

export const OFFSETS_TOPIC = "__consumer_offsets";

/** The absolute value of Java's hash of a string, by which Kafka finds the partition of a group. */
function hashOf(group: string): number {
  let hash = 0;
  for (const character of group) hash = (Math.imul(hash, 31) + character.charCodeAt(0)) | 0;
  return Math.abs(hash);
}
