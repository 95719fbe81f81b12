import { AssignerProtocol, type PartitionAssigner } from "kafkajs";
import { LANES, partitionsOf, type Lane } from "../../../schemas/records/event-log.js";

const { MemberAssignment, MemberMetadata } = AssignerProtocol;
const VERSION = 1;

/**
 * Has a group divide the partitions of each lane among the members that consume that lane. Members of a lane without
 * others take its partitions too, so that every partition always has a consumer.
 */
export function assignLanes(lane: Lane): PartitionAssigner {
  const name = "lanes";
  return ({ cluster }) => ({
    name,
    version: VERSION,
    protocol: ({ topics }) => ({
      name,
      metadata: MemberMetadata.encode({ version: VERSION, topics, userData: Buffer.from(lane) }),
    }),
    async assign({ members, topics }) {
      const assigned = new Map<string, Record<string, number[]>>(
        members.map(({ memberId }) => [memberId, {}]),
      );
      const laneMembers = members.map(({ memberId, memberMetadata }) => ({
        memberId,
        lane: MemberMetadata.decode(memberMetadata)?.userData.toString(),
      }));
      for (const topic of topics)
        for (const [memberId, partitions] of divide(
          laneMembers,
          cluster.findTopicPartitionMetadata(topic).length,
        ))
          (assigned.get(memberId) ?? {})[topic] = partitions;
      return [...assigned].map(([memberId, assignment]) => ({
        memberId,
        memberAssignment: MemberAssignment.encode({ version: VERSION, assignment, userData: NO_DATA }),
      }));
    },
  });
}

const NO_DATA = Buffer.alloc(0);

export interface LaneMember {
  memberId: string;
  lane: string | undefined;
}

/** Every member knows the same members, so the order of their ids is the order for all. */
export function divide(members: readonly LaneMember[], partitions: number): Map<string, number[]> {
  const sorted = [...members].sort((a, b) => (a.memberId < b.memberId ? -1 : 1));
  const divided = new Map(sorted.map(({ memberId }): [string, number[]] => [memberId, []]));
  for (const lane of LANES) {
    const own = sorted.filter((member) => member.lane === lane);
    const takers = own.length > 0 ? own : sorted;
    for (const [index, partition] of partitionsOf(lane, partitions).entries())
      divided.get(takers[index % takers.length]?.memberId ?? "")?.push(partition);
  }
  return divided;
}
