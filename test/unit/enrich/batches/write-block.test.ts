import { expect, test } from "vitest";
import { planBlocks, type BlockPlan } from "../../../../enrich/batches/write-block.js";

const textOf = (block: ReturnType<BlockPlan["next"]>) => block && `${block.name}: ${block.from}-${block.to}`;
const noneRefused = () => undefined;

test("a range is one block until one ends early; the rest is the next", () => {
  const plan = planBlocks(10, noneRefused);
  const first = plan.next();
  expect(textOf(first)).toBe("0: 0-10");
  expect(first && textOf(plan.endAt(first, 4))).toBe("0: 0-4");
  expect(textOf(plan.next())).toBe("1: 4-10");
  expect(plan.next()).toBeUndefined();
});

test("the halves of a refused block come before the next block, down to single records", () => {
  const plan = planBlocks(10, noneRefused);
  const first = plan.next();
  if (first !== undefined) plan.halve(plan.endAt(first, 3));
  const left = plan.next();
  expect(textOf(left)).toBe("0.0: 0-2");
  if (left !== undefined) plan.halve(left);
  expect([plan.next(), plan.next(), plan.next()].map(textOf)).toEqual([
    "0.0.0: 0-1",
    "0.0.1: 1-2",
    "0.1: 2-3",
  ]);
  expect(textOf(plan.next())).toBe("1: 3-10");
});

test("a block that was refused at an earlier attempt comes as its halves at once, cut where it was then", () => {
  const ends = new Map([["0", 4]]);
  const plan = planBlocks(6, ({ name }) => ends.get(name));
  expect([plan.next(), plan.next(), plan.next(), plan.next()].map(textOf)).toEqual([
    "0.0: 0-2",
    "0.1: 2-4",
    "1: 4-6",
    undefined,
  ]);
});

test("a range without records has no blocks", () => {
  expect(planBlocks(0, noneRefused).next()).toBeUndefined();
});
