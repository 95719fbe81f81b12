/** For JSON: three decimals. */
export function rounded(value: number): number {
  return Math.round(value * 1000) / 1000;
}

/** The same names with values for JSON. */
export function roundedAll<Name extends string>(
  values: Readonly<Record<Name, number>>,
): Record<Name, number> {
  const entries = Object.entries<number>(values).map(([name, value]) => [name, rounded(value)]);
  return Object.fromEntries(entries) as Record<Name, number>;
}

export function whole(value: number): string {
  return Math.round(value).toLocaleString("en-GB");
}

export function seconds(value: number): string {
  return `${value.toFixed(2)} s`;
}

export function megabytes(bytes: number): string {
  return `${whole(bytes / 1_000_000)} MB`;
}

/** How a report calls its rounds. */
export function timesOf(rounds: number, measured = "medians"): string {
  return rounds === 1 ? "1 round" : `${measured} of ${rounds} rounds`;
}
