import type { Operation } from "../operation.js";

/** Whether an operation is a read of JSON, which has an `ETag` and can be answered with 304. */
export function isReadOfJson(method: string, { answers }: Operation): boolean {
  const answer = answers[200];
  return method === "GET" && answer?.schema !== undefined && answer.types === undefined;
}
