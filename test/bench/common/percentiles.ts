export interface Percentiles {
  p50: number;
  p90: number;
  p99: number;
  max: number;
}

/** The smallest values that the given percentage of all values does not exceed. Throws for an empty list. */
export function percentiles(values: Float64Array): Percentiles {
  const sorted = values.toSorted();
  const at = (share: number): number => {
    const value = sorted[Math.max(0, Math.ceil(sorted.length * share) - 1)];
    if (value === undefined) throw new RangeError("there is no percentile of nothing");
    return value;
  };
  return { p50: at(0.5), p90: at(0.9), p99: at(0.99), max: at(1) };
}
