/** Consecutive records of a batch, from an index to before another. */
export interface Span {
  from: number;
  to: number;
}

/** A span that is inserted under its own name: `0`, `1`, ... and, for the halves of `0`, `0.0` and `0.1`. */
export interface Block extends Span {
  name: string;
}

/** The blocks of a range, in the order in which they are written. */
export interface BlockPlan {
  /** The next block that is written whole; undefined at the end of the range. */
  next(): Block | undefined;
  /** Ends a block before `to`: the records from there on become the next first block. */
  endAt(block: Block, to: number): Block;
  /** Has a block written in halves; one record has none. */
  halve(block: Block): void;
}

/** `refusedEnd` answers the end of a block that was refused before, which comes as its halves. */
export function planBlocks(records: number, refusedEnd: (block: Block) => number | undefined): BlockPlan {
  /** A stack: the last element is the next block. */
  const pending: Block[] = [];
  let firstBlocks = 0;
  const planFrom = (from: number) => {
    if (from < records) pending.push({ from, to: records, name: String(firstBlocks++) });
  };
  const plan: BlockPlan = {
    next() {
      for (let block = pending.pop(); block !== undefined; block = pending.pop()) {
        const refusedTo = refusedEnd(block);
        if (refusedTo === undefined) return block;
        plan.halve(plan.endAt(block, refusedTo));
      }
      return undefined;
    },
    endAt(block, to) {
      if (isFirst(block)) planFrom(to);
      return { ...block, to };
    },
    halve({ from, to, name }) {
      if (to - from < 2) return;
      const middle = from + Math.ceil((to - from) / 2);
      pending.push({ from: middle, to, name: `${name}.1` }, { from, to: middle, name: `${name}.0` });
    },
  };
  planFrom(0);
  return plan;
}

/** Only first blocks may end early: a half has fewer lines than its block, which did not. */
export function isFirst({ name }: Block): boolean {
  return !name.includes(".");
}
