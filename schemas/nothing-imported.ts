import type { ImportCounts } from "./records/import-store.js";

/** Says for people why an import that has ended holds no event. */
export function nothingImported({ events_total: lines }: Pick<ImportCounts, "events_total">): string {
  if (lines === 0) return "Nothing was imported: there was no line.";
  return `Nothing was imported: ${lines === 1 ? "the only line" : "every line"} was refused.`;
}
