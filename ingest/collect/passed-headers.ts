import type { IncomingHttpHeaders } from "node:http";

/** About one connection only (RFC 9110, 7.6.1), as are the headers that `Connection` names. */
const HOP_BY_HOP = [
  "connection",
  "keep-alive",
  "proxy-authenticate",
  "proxy-authorization",
  "proxy-connection",
  "te",
  "trailer",
  "transfer-encoding",
  "upgrade",
];

/** The registry has its own name, bodies are not passed on, and proxies in front of this host are none of its business. */
const NOT_FOR_REGISTRY = new Set([
  ...HOP_BY_HOP,
  "host",
  "expect",
  "content-length",
  "cookie",
  "forwarded",
  "x-forwarded-for",
  "x-forwarded-host",
  "x-forwarded-port",
  "x-forwarded-proto",
  "x-real-ip",
]);

/** Headers about a connection, or about a registry's own host: they must not be said about this one. */
const NOT_FOR_CLIENT = new Set([...HOP_BY_HOP, "set-cookie", "alt-svc", "strict-transport-security"]);

/** Those of another server's answer that are not about its connection, its host or, here, its body's form. */
export function headersOfRefusal(headers: IncomingHttpHeaders): Record<string, string> {
  const { "content-length": _length, "content-encoding": _encoding, ...rest } = headers;
  const passed: Record<string, string> = {};
  for (const [name, value] of Object.entries(withoutOwn(rest)))
    if (typeof value === "string") passed[name] = value;
  return passed;
}

function withoutOwn<Value>(headers: Readonly<Record<string, Value>>): Record<string, Value> {
  const dropped = namedBy(String(headers["connection"] ?? ""));
  const isPassed = ([name]: [string, Value]) => !NOT_FOR_CLIENT.has(name) && !dropped.has(name);
  return Object.fromEntries(Object.entries(headers).filter(isPassed));
}

/** The headers of a client that its registry gets, credentials among them. */
export function headersForRegistry(
  headers: IncomingHttpHeaders,
  via: string,
): Record<string, string | string[]> {
  const dropped = namedBy(headers.connection);
  const passed: Record<string, string | string[]> = {};
  for (const [name, value] of Object.entries(headers))
    if (value !== undefined && !NOT_FOR_REGISTRY.has(name) && !dropped.has(name)) passed[name] = value;
  passed["via"] = headers.via === undefined ? via : `${headers.via}, ${via}`;
  return passed;
}

/** The request's URL at the registry, and the path of its image here and there. */
export interface AnswerPlaces {
  url: string;
  path?: { here: string; there: string };
}

/**
 * All values of each header. A redirect or link without a host is one to the registry, but the client would
 * look for it here: redirects get the registry's host, links to the next page of a list stay here.
 */
export function headersForClient(
  headers: Readonly<Record<string, string[]>>,
  { url, path }: AnswerPlaces,
): Record<string, string[]> {
  const passed = withoutOwn(headers);
  const [location] = headers["location"] ?? [];
  if (location !== undefined && !URL.canParse(location) && URL.canParse(location, url))
    passed["location"] = [new URL(location, url).href];
  if (passed["link"] !== undefined && path !== undefined)
    passed["link"] = passed["link"].map((link) => linkHere(link, url, path));
  return passed;
}

/** With the path that the image has here, where the link is one to the same image (RFC 8288: `<URL>; rel="next"`). */
function linkHere(link: string, url: string, { here, there }: NonNullable<AnswerPlaces["path"]>): string {
  return link.replace(/<([^<>]*)>/g, (whole, target: string) => {
    if (!URL.canParse(target, url)) return whole;
    const { origin, pathname, search } = new URL(target, url);
    const isSame = origin === new URL(url).origin && pathname.startsWith(there);
    return isSame ? `<${here}${pathname.slice(there.length)}${search}>` : whole;
  });
}

function namedBy(connection: string | undefined): ReadonlySet<string> {
  return new Set((connection ?? "").split(",").map((name) => name.trim().toLowerCase()));
}
