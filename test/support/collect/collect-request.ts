import type { CollectRequest } from "../../../ingest/collect/collect-answer.js";

/** A request to the collector; a GET of `target` unless more is said. */
export function collectRequest(target: string, more: Partial<CollectRequest> = {}): CollectRequest {
  const [path = "", ...query] = target.split("?");
  return {
    method: "GET",
    target,
    path,
    query: query.join("?"),
    headers: {},
    host: "pkgs.example",
    address: "192.0.2.1",
    body: Buffer.alloc(0),
    ...more,
  };
}
