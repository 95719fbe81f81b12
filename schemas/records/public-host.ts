/**
 * The host name of a URL as live collection knows it from a `Host` header: ASCII, lower case, without a port and
 * without the dot of a name that is spelt to its end. Names of package domains have the same form. Undefined for what
 * is no URL with a host.
 */
export function publicHostOf(url: unknown): string | undefined {
  if (typeof url !== "string" || !URL.canParse(url)) return undefined;
  return new URL(url).hostname.replace(/\.$/, "") || undefined;
}
