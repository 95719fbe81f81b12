/**
 * Whether an error means that a store is unavailable: a refused, reset or timed-out connection, or PostgreSQL's classes
 * 08 (connection) and 57P0x (shutting down, starting up), or 53300 (too many connections).
 */
export function isStoreDown(error: unknown): boolean {
  const code = codeOf(error);
  if (code === undefined) return false;
  return NETWORK_CODES.has(code) || /^(08...|57P0[1-5]|53300)$/.test(code);
}

const NETWORK_CODES = new Set([
  "ECONNREFUSED",
  "ECONNRESET",
  "ECONNABORTED",
  "EHOSTUNREACH",
  "ENETUNREACH",
  "ENOTFOUND",
  "EAI_AGAIN",
  "EPIPE",
  "ETIMEDOUT",
]);

function codeOf(error: unknown): string | undefined {
  if (!(error instanceof Error) || !("code" in error)) return undefined;
  return typeof error.code === "string" ? error.code : undefined;
}
