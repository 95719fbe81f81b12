import { expect, test } from "vitest";
import { queueBlocks, type BlockQueue } from "../../../../enrich/batches/write-block.js";

const textOf = (block: ReturnType<BlockQueue["next"]>) => block && `${block.name}: ${block.from}-${block.to}`;
const noneRefused = () => undefined;

test("a batch is one block until one ends early; the rest is the next", () => {
  const blocks = queueBlocks(10, noneRefused);
  const first = blocks.next();
  expect(textOf(first)).toBe("0: 0-10");
  expect(first && textOf(blocks.endAt(first, 4))).toBe("0: 0-4");
  expect(textOf(blocks.next())).toBe("1: 4-10");
  expect(blocks.next()).toBeUndefined();
});

test("the halves of a refused block come before the next block, down to single chunks", () => {
  const blocks = queueBlocks(10, noneRefused);
  const first = blocks.next();
  if (first !== undefined) blocks.halve(blocks.endAt(first, 3));
  const left = blocks.next();
  expect(textOf(left)).toBe("0.0: 0-2");
  if (left !== undefined) blocks.halve(left);
  expect([blocks.next(), blocks.next(), blocks.next()].map(textOf)).toEqual([
    "0.0.0: 0-1",
    "0.0.1: 1-2",
    "0.1: 2-3",
  ]);
  expect(textOf(blocks.next())).toBe("1: 3-10");
});

test("a block that was refused at an earlier attempt comes as its halves at once, cut where it was then", () => {
  const ends = new Map([["0", 4]]);
  const blocks = queueBlocks(6, ({ name }) => ends.get(name));
  expect([blocks.next(), blocks.next(), blocks.next(), blocks.next()].map(textOf)).toEqual([
    "0.0: 0-2",
    "0.1: 2-4",
    "1: 4-6",
    undefined,
  ]);
});

test("a batch without chunks has no blocks", () => {
  expect(queueBlocks(0, noneRefused).next()).toBeUndefined();
});
