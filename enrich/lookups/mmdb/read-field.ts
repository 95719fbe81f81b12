/** The text at a path of keys and indexes in a decoded record, without surrounding space, or "". */
export function readText(record: unknown, ...path: readonly (string | number)[]): string {
  const value = readValue(record, path);
  return typeof value === "string" ? value.trim() : "";
}

/** The number at a path, or NaN. */
export function readNumber(record: unknown, ...path: readonly (string | number)[]): number {
  const value = readValue(record, path);
  return typeof value === "number" ? value : NaN;
}

function readValue(record: unknown, path: readonly (string | number)[]): unknown {
  let value: unknown = record;
  for (const key of path) {
    if (typeof value !== "object" || value === null) return undefined;
    value = (value as Record<string | number, unknown>)[key];
  }
  return value;
}
