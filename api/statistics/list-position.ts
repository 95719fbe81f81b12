import type { ListPosition, ListRow } from "../../aggregate/statistics/statistics-query.js";

/** The text of a row's position, for `after`: opaque to callers. */
export function positionText({ count, values }: ListRow): string {
  return Buffer.from(JSON.stringify([count, ...values])).toString("base64url");
}

/** Undefined for a text that `positionText` has not made. */
export function parsePosition(text: string): ListPosition | undefined {
  try {
    const [count, ...values] = JSON.parse(Buffer.from(text, "base64url").toString()) as unknown[];
    if (!Number.isSafeInteger(count) || !values.every((value) => typeof value === "string")) return undefined;
    return { count: count as number, values };
  } catch {
    return undefined;
  }
}
