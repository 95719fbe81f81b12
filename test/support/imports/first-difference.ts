import type { AggregateV1 } from "../../../schemas/contracts/aggregate.js";
import { sortAggregates } from "./recount-aggregates.js";

/**
 * Says how the aggregates that the service answered differ from the recount, or nothing when they are equal. A person
 * reads it in a failed test, so it names the first record that differs and how many do.
 */
export function firstDifference(answered: readonly AggregateV1[], expected: readonly AggregateV1[]): string {
  const wanted = new Map(expected.map((line) => [keyOf(line), line]));
  const given = new Map(answered.map((line) => [keyOf(line), line]));
  const differences = [
    ...expected.filter((line) => !given.has(keyOf(line))).map((line) => `missing: ${JSON.stringify(line)}`),
    ...answered
      .filter((line) => !wanted.has(keyOf(line)))
      .map((line) => `not expected: ${JSON.stringify(line)}`),
    ...expected.flatMap((line) => countDifference(given.get(keyOf(line)), line)),
    ...(given.size < answered.length ? [`a record is answered more than once: ${repeated(answered)}`] : []),
  ];
  const [first] = differences;
  if (first !== undefined) {
    return `${differences.length} of ${expected.length} aggregates differ; first, ${first}`;
  }
  return orderDifference(answered);
}

/** Which record it is, whatever its numbers and the order of its fields. */
function keyOf({ total: _total, unique_total: _unique, ...rest }: AggregateV1): string {
  return JSON.stringify(Object.entries(rest).sort(([left], [right]) => (left < right ? -1 : 1)));
}

function countDifference(answered: AggregateV1 | undefined, expected: AggregateV1): string[] {
  if (answered === undefined) return [];
  if (answered.total === expected.total && answered.unique_total === expected.unique_total) return [];
  return [`answered ${JSON.stringify(answered)}, expected ${JSON.stringify(expected)}`];
}

function repeated(lines: readonly AggregateV1[]): string {
  const seen = new Set<string>();
  const twice = lines.find((line) => seen.size === seen.add(keyOf(line)).size);
  return JSON.stringify(twice);
}

function orderDifference(answered: readonly AggregateV1[]): string {
  const sorted = sortAggregates(answered);
  const index = sorted.findIndex((line, at) => line !== answered[at]);
  if (index < 0) return "";
  return `wrong order at record ${index + 1}: ${JSON.stringify(answered[index])} before ${JSON.stringify(sorted[index])}`;
}
