import type { Address } from "../parse-address.js";

/** The search tree of an MMDB, over the bytes of its file: https://maxmind.github.io/MaxMind-DB/. */
export interface SearchTree {
  bytes: Uint8Array;
  nodeCount: number;
  /** Bits of half a node: 24, 28 or 32. */
  recordSize: number;
  ipVersion: number;
}

/** The number of the record of an address, which all addresses with the same record share; 0 where there is none. */
export type FindRecord = (address: Readonly<Address>) => number;

/**
 * The first 16 bits of an address lead into the tree at once: half the time of the walk from its root, and no
 * slower than a binary search in sorted ranges, which take seconds to make.
 */
export function openSearchTree(tree: SearchTree): FindRecord {
  const holdsIpv6 = tree.ipVersion === 6;
  const ipv4Root = holdsIpv6 ? [0, 0, 0].reduce((node) => walk(tree, { node, word: 0, from: 0 }), 0) : 0;
  const ipv4 = nodesAfterJump(tree, ipv4Root);
  const ipv6 = holdsIpv6 ? nodesAfterJump(tree, 0) : undefined;
  return ({ family, words }) => {
    const nodes = family === 4 ? ipv4 : ipv6;
    if (nodes === undefined || family === 0) return 0;
    let at = family === 4 ? 3 : 0;
    let node = nodes[words[at]! >>> (32 - JUMP_BITS)]!;
    node = walk(tree, { node, word: words[at]!, from: JUMP_BITS });
    while (++at < words.length) node = walk(tree, { node, word: words[at]!, from: 0 });
    return node > tree.nodeCount ? node : 0;
  };
}

const JUMP_BITS = 16;

function nodesAfterJump(tree: SearchTree, root: number): Uint32Array {
  const nodes = new Uint32Array(2 ** JUMP_BITS);
  for (let first = 0; first < nodes.length; first++) {
    nodes[first] = walk(tree, { node: root, word: first, from: 32 - JUMP_BITS });
  }
  return nodes;
}

/** From a node along the bits of a word; ends early at what is no node, but a record or nothing. */
function walk(tree: SearchTree, { node, word, from }: { node: number; word: number; from: number }): number {
  const { bytes, nodeCount, recordSize } = tree;
  let at = node;
  for (let bit = from; bit < 32 && at < nodeCount; bit++) {
    at = childOf(bytes, recordSize, at, (word >>> (31 - bit)) & 1);
  }
  return at;
}

function childOf(bytes: Uint8Array, recordSize: number, node: number, side: number): number {
  const start = node * (recordSize >>> 2);
  const at = start + (recordSize === 28 ? side * 4 : (side * recordSize) >>> 3);
  const low = (bytes[at]! << 16) | (bytes[at + 1]! << 8) | bytes[at + 2]!;
  if (recordSize === 24) return low;
  if (recordSize === 32) return low * 256 + bytes[at + 3]!;
  const high = bytes[start + 3]!;
  return (side === 0 ? high >>> 4 : high & 0x0f) * 2 ** 24 + low;
}
