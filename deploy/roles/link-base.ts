import type { Config } from "../config/config.js";

/**
 * Where links lead that leave the service in mails and chats: `PUBLIC_URL`, or the address where this program listens if only
 * this machine reaches it, without a proxy. Undefined otherwise: what requests call the service is no address that receivers
 * can trust.
 */
export function linkBase(
  { publicUrl, trustedProxies }: Pick<Config, "publicUrl" | "trustedProxies">,
  listeningAt: string | undefined,
): string | undefined {
  if (publicUrl !== undefined || listeningAt === undefined) return publicUrl;
  const isOwn = trustedProxies.length === 0 && isLoopback(new URL(listeningAt).hostname);
  return isOwn ? listeningAt : undefined;
}

function isLoopback(hostname: string): boolean {
  return hostname === "localhost" || hostname === "[::1]" || /^127(?:\.\d+){3}$/.test(hostname);
}
