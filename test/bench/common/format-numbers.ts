export function whole(value: number): string {
  return Math.round(value).toLocaleString("en-GB");
}

/** Three of them at least. */
export function digits(value: number): string {
  return Math.abs(value) >= 100 || Number.isInteger(value) ? whole(value) : value.toPrecision(3);
}

export function megabytes(bytes: number): string {
  return `${digits(bytes / 1_000_000)} MB`;
}

/** How a report calls its rounds. */
export function timesOf(rounds: number): string {
  return rounds === 1 ? "1 round" : `medians of ${rounds} rounds`;
}
