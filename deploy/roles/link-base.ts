import type { Config } from "../config/config.js";

/**
 * Where links lead that leave the service in mails and chats: `PUBLIC_URL`, or the address where this program listens if it
 * is this machine's own. Undefined otherwise: what requests call the service is no address that receivers can trust.
 */
export function linkBase(
  { publicUrl }: Pick<Config, "publicUrl">,
  listeningAt: string | undefined,
): string | undefined {
  if (publicUrl !== undefined || listeningAt === undefined) return publicUrl;
  return isLoopback(new URL(listeningAt).hostname) ? listeningAt : undefined;
}

function isLoopback(hostname: string): boolean {
  return hostname === "localhost" || hostname === "[::1]" || /^127(?:\.\d+){3}$/.test(hostname);
}
