/** Below it, a number would tell too much of single people. */
const EXACT_MIN = 10;
const UNITS = ["", "k", "M", "G", "T"] as const;

/** A count as a badge has it: `<10`, then rounded to two significant digits: `12`, `120`, `1.2k`, `34M`. */
export function badgeCount(count: number): string {
  if (count < EXACT_MIN) return `<${EXACT_MIN}`;
  const rounded = Number(count.toPrecision(2));
  const power = Math.min(UNITS.length - 1, Math.floor((String(rounded).length - 1) / 3));
  return `${rounded / 1000 ** power}${UNITS[power]}`;
}
