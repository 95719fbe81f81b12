/** The middle value, or the mean of the two middle values. Throws for an empty list. */
export function median(values: readonly number[]): number {
  if (values.length === 0) throw new RangeError("there is no median of nothing");
  const sorted = [...values].sort((a, b) => a - b);
  const middle = sorted.length / 2;
  const [low, high] = [sorted[Math.ceil(middle) - 1], sorted[Math.floor(middle)]] as [number, number];
  return (low + high) / 2;
}

/** Memory is one peak for all rounds. */
const PEAK = /(?:max|peak|added)_/;

/** The median of each number of all rounds, of a peak the largest. Anything else is as in the last round. */
export function overRounds<Facts extends object>(rounds: readonly Facts[]): Facts {
  const last = rounds.at(-1);
  if (last === undefined) throw new RangeError("there is no median of nothing");
  const combined = Object.entries(last).map(([name, value]: [string, unknown]) => {
    const values = rounds.map((round) => (round as Record<string, unknown>)[name]);
    if (typeof value === "number")
      return [name, PEAK.test(name) ? Math.max(...(values as number[])) : median(values as number[])];
    return [name, typeof value === "object" && value !== null ? overRounds(values as object[]) : value];
  });
  const facts = Object.fromEntries(combined) as Facts;
  return Array.isArray(last) ? (Object.values(facts) as Facts) : facts;
}
