import { expect, test } from "vitest";
import { inGroups } from "../../../../schemas/async/in-groups.js";

class Down extends Error {}

/** Calls of `<key><number>`, and the groups that ran; `refused` fails each group that has it. */
function openGroups({ refused, down = false }: { refused?: string; down?: boolean } = {}) {
  const groups: string[][] = [];
  const call = inGroups<string, string>(
    async (items) => {
      groups.push([...items]);
      await new Promise(setImmediate);
      if (down) throw new Down();
      if (refused !== undefined && items.includes(refused)) throw new Error(`${refused} is refused`);
      return items.map((item) => `${item} done`);
    },
    { keyOf: ([key = ""]) => key, itemsMax: 3, isOfAll: (error) => error instanceof Down },
  );
  return { call, groups };
}

test("the first call runs at once, and those that come meanwhile run together, each with its result", async () => {
  const { call, groups } = openGroups();
  const results = await Promise.all(["a1", "a2", "a3"].map(call));
  expect(results).toEqual(["a1 done", "a2 done", "a3 done"]);
  expect(groups).toEqual([["a1"], ["a2", "a3"]]);
  await call("a4");
  expect(groups.at(-1)).toEqual(["a4"]);
});

test("a group has one key and a limit", async () => {
  const { call, groups } = openGroups();
  await Promise.all(["a1", "b1", "a2", "a3", "b2", "a4", "a5"].map(call));
  expect(groups).toEqual([["a1"], ["b1"], ["a2", "a3", "a4"], ["b2"], ["a5"]]);
});

test("one that fails costs the others of its group nothing", async () => {
  const { call } = openGroups({ refused: "a3" });
  const results = await Promise.allSettled(["a1", "a2", "a3", "a4"].map(call));
  expect(results.map(({ status }) => status)).toEqual(["fulfilled", "fulfilled", "rejected", "fulfilled"]);
});

test("an error that is of all is not tried out one by one", async () => {
  const { call, groups } = openGroups({ down: true });
  const results = await Promise.allSettled(["a1", "a2", "a3"].map(call));
  expect(results.every(({ status }) => status === "rejected")).toBe(true);
  expect(groups).toEqual([["a1"], ["a2", "a3"]]);
});
