/** The keys and values of a line as they were sent. */
export type LineObject = Record<string, unknown>;

export function isObject(value: unknown): value is LineObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
