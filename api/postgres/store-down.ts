import { NETWORK_CODES } from "../../schemas/problem.js";

/**
 * Whether an error means that a store is unavailable: a refused, reset or timed-out connection, or PostgreSQL's classes
 * 08 (connection) and 57P0x (shutting down, starting up), or 53300 (too many connections), or ClickHouse's codes of a
 * server that cannot reach a shard.
 */
export function isStoreDown(error: unknown): boolean {
  const code = codeOf(error);
  if (code === undefined) return false;
  return DOWN.has(code) || /^(08...|57P0[1-5]|53300)$/.test(code);
}

const DOWN: ReadonlySet<string> = new Set([
  ...NETWORK_CODES,
  "ECONNABORTED",
  "209", // SOCKET_TIMEOUT
  "210", // NETWORK_ERROR
  "279", // ALL_CONNECTION_TRIES_FAILED
  "369", // ALL_REPLICAS_ARE_STALE
]);

function codeOf(error: unknown): string | undefined {
  if (!(error instanceof Error) || !("code" in error)) return undefined;
  return typeof error.code === "string" ? error.code : undefined;
}
