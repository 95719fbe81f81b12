import type { Operation } from "../operation.js";

/** Reads of JSON, which have an `ETag` and are answered with 304 where the caller has them already. */
export function isReadOfJson(method: string, { answers }: Operation): boolean {
  const answer = answers[200];
  return method === "GET" && answer?.schema !== undefined && answer.types === undefined;
}
