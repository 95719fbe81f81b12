/**
 * The host name of a URL in the form of a `Host` header and of package domains: ASCII, lower case, without a port and
 * without a trailing dot. Undefined if the text is no URL with a host.
 */
export function publicHostOf(url: unknown): string | undefined {
  if (typeof url !== "string" || !URL.canParse(url)) return undefined;
  return new URL(url).hostname.replace(/\.$/, "") || undefined;
}
