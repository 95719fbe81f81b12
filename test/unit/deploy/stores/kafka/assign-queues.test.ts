import { AssignerProtocol, type Cluster, type Logger } from "kafkajs";
import { describe, expect, test } from "vitest";
import { assignQueues, divide } from "../../../../../deploy/stores/kafka/event-log-consume.js";
import { QUEUES, type Queue, partitionsOf } from "../../../../../schemas/records/event-log.js";

const member = (memberId: string, queue: string | undefined) => ({ memberId, queue });

describe("the partitions of the members of a group", () => {
  test("are those of their queues", () => {
    const members = [
      member("d", "bulk"),
      member("a", "express"),
      member("c", "express"),
      member("b", "bulk"),
    ];
    expect(Object.fromEntries(divide(members, 8))).toEqual({ a: [0], b: [2, 4, 6], c: [1], d: [3, 5, 7] });
  });

  test("are all where a queue has no members", () => {
    const divided = divide([member("a", "express"), member("b", "express")], 8);
    expect([...divided.values()].flat().sort()).toEqual([0, 1, 2, 3, 4, 5, 6, 7]);
  });

  test("are none where there are more members than partitions of the queue", () => {
    const members = ["a", "b", "c"].map((id) => member(id, "express"));
    expect(divide([...members, member("d", "bulk")], 4).get("c")).toEqual([]);
  });
});

test("the leader reads the queue of every member and answers what kafkajs understands", async () => {
  const cluster = {
    findTopicPartitionMetadata: () => Array.from({ length: 8 }, (_, partitionId) => ({ partitionId })),
  } as unknown as Cluster;
  const assignerOf = (queue: Queue) =>
    assignQueues(queue)({ cluster, groupId: "enrich", logger: {} as Logger });
  const members = QUEUES.map((queue) => ({
    memberId: queue,
    memberMetadata: assignerOf(queue).protocol({ topics: ["events.raw"] }).metadata,
  }));
  const assigned = await assignerOf("bulk").assign({ members, topics: ["events.raw"] });
  const read = assigned.map(({ memberId, memberAssignment }) => [
    memberId,
    AssignerProtocol.MemberAssignment.decode(memberAssignment)?.assignment,
  ]);
  expect(Object.fromEntries(read)).toEqual({
    express: { "events.raw": partitionsOf("express", 8) },
    bulk: { "events.raw": partitionsOf("bulk", 8) },
  });
});
