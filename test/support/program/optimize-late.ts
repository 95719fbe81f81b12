/**
 * The URL of a module that has V8 optimize functions later, for `node --import`: the processes of tests end before it pays.
 * Node 20 otherwise takes a sixth of the processor time of a start for it: 2.75 and 2.3 s, 4 starts each.
 */
export const OPTIMIZE_LATE = new URL("./optimize-late.mjs", import.meta.url).href;
