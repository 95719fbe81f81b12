/**
 * The URL of a module that has V8 optimize functions later, for `node --import`: the processes of tests end before it pays.
 * Optimizing takes Node 20 a sixth of the processor time of a start: 2.75 s, and 2.3 s with this module, in 4 starts each.
 */
export const OPTIMIZE_LATE = new URL("./optimize-late.mjs", import.meta.url).href;
