/** For JSON: three decimals. */
export function rounded(value: number): number {
  return Math.round(value * 1000) / 1000;
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
