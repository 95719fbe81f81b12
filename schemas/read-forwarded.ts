import type { IncomingHttpHeaders } from "node:http";
import { isIPv4, isIPv6, SocketAddress } from "node:net";

/** Of a request. Each proxy appends an entry to its headers. */
export interface Connection {
  headers: IncomingHttpHeaders;
  socket: { remoteAddress?: string | undefined };
}

/** Where a request comes from and where its client sent it, as far as trusted proxies say so. */
export interface Forwarded {
  /** The remote end or, behind trusted proxies, the last forwarded address of no proxy. Earlier ones may be invented. */
  address: string | undefined;
  protocol?: "http" | "https" | undefined;
  host?: Authority | undefined;
  /** Of a host that was said without one. */
  port?: string | undefined;
  /** Begins with a slash, and does not end with one; as in a URL. */
  prefix?: string | undefined;
}

/**
 * Reads `X-Forwarded-For`, `-Proto`, `-Host`, `-Port` and `-Prefix`, or `Forwarded` (RFC 7239) where there is no
 * `X-Forwarded-For`. Values of another form are ignored, and so is everything that no trusted proxy sent.
 */
export function readForwarded(
  { headers, socket }: Connection,
  trustsProxy: (address: string) => boolean,
): Forwarded {
  const remote = plainAddress(socket.remoteAddress ?? "");
  if (remote === undefined || !trustsProxy(remote)) return { address: remote };
  const forwardedFor = String(headers["x-forwarded-for"] ?? "");
  const hops: ForwardedHop[] =
    forwardedFor.trim() === ""
      ? parseForwarded(headers.forwarded ?? "")
      : forwardedFor.split(",").map((entry) => ({ for: unquoted(entry.trim()) }));
  const { address, said } = walkHops(hops, { remote, trustsProxy });
  return {
    address,
    protocol: protocolOf(firstOf(headers["x-forwarded-proto"])) ?? protocolOf(said.proto),
    host: parseAuthority(firstOf(headers["x-forwarded-host"])) ?? parseAuthority(said.host),
    port: portOf(firstOf(headers["x-forwarded-port"])),
    prefix: prefixOf(firstOf(headers["x-forwarded-prefix"])),
  };
}

interface Walk {
  remote: string;
  trustsProxy: (address: string) => boolean;
}

/** From the last hop on, which the remote end added, as long as each was added by a trusted proxy. */
function walkHops(hops: readonly ForwardedHop[], { remote, trustsProxy }: Walk) {
  let address = remote;
  let said: ForwardedHop = {};
  for (const hop of hops.toReversed()) {
    if (!trustsProxy(address)) break;
    said = { ...said, ...hop };
    const client = plainAddress(withoutPort(hop.for ?? ""));
    // The proxy hides its client, or does not know it: the proxy is the last known one.
    if (client === undefined) break;
    address = client;
  }
  return { address, said };
}

/** The parameters of an element of `Forwarded`, without quotes. The first of equal names counts. */
export type ForwardedHop = Partial<Record<"for" | "host" | "proto", string>>;

/** RFC 7239, 4. Space is allowed around separators, and unquoted values may have colons and brackets, as some send. */
export function parseForwarded(text: string): ForwardedHop[] {
  let hop: ForwardedHop = {};
  const hops = [hop];
  for (const [, name = "", quoted, token = "", separator] of text.matchAll(PARAMETER)) {
    const known = KNOWN.find((each) => each === name.toLowerCase());
    if (known !== undefined) hop[known] ??= quoted === undefined ? token : withoutEscapes(quoted);
    if (separator === ",") hops.push((hop = {}));
  }
  return hops.filter((each) => Object.keys(each).length > 0);
}

const KNOWN = ["for", "host", "proto"] as const;
/** One parameter or other text up to the next separator that is not quoted. */
const PARAMETER =
  /[ \t]*(?:([!#$%&'*+.^_`|~\w-]+)[ \t]*=[ \t]*(?:"((?:[^"\\]|\\.)*)"|([^;,"\s]*))[ \t]*(?=[;,]|$)|(?:[^;,"]|"(?:[^"\\]|\\.)*(?:"|\\?$))*)([;,]|$)/g;

function withoutEscapes(quoted: string): string {
  return quoted.replace(/\\(.)/g, "$1");
}

/** A host with the port that was said with it. */
export interface Authority {
  /** As in a URL: lower case, not percent-encoded, IPv6 in brackets and in its shortest spelling. */
  hostname: string;
  /** Empty where none was said. */
  port: string;
}

/** RFC 3986, 3.2.2, without user information and without the signs that no host name has. */
export function parseAuthority(text: string | undefined): Authority | undefined {
  const [, host, port = ""] =
    /^(\[[\da-f:.]+\]|(?:[\w.~-]|%[\da-f]{2})+)(?::(\d{0,5}))?$/i.exec(text ?? "") ?? [];
  if (host === undefined || Number(port) > 65_535 || !URL.canParse(`http://${host}`)) return undefined;
  return { hostname: new URL(`http://${host}`).hostname, port };
}

function protocolOf(text: string | undefined): "http" | "https" | undefined {
  const protocol = text?.toLowerCase();
  return protocol === "http" || protocol === "https" ? protocol : undefined;
}

/** The default ports say nothing: a proxy may see another one than the client. */
function portOf(text: string | undefined): string | undefined {
  return /^\d{1,5}$/.test(text ?? "") && Number(text) <= 65_535 && text !== "80" && text !== "443"
    ? text
    : undefined;
}

/** RFC 3986, 3.3: a path with segments that are not empty, and no dot segments. */
function prefixOf(text: string | undefined): string | undefined {
  const prefix = (text ?? "").replace(/\/$/, "");
  const isPath = /^(?:\/(?:[\w.~!$&'()*+,;=:@-]|%[\da-f]{2})+)+$/i.test(prefix);
  return isPath && !/\/(?:\.|%2e){1,2}(?:\/|$)/i.test(prefix) ? prefix : undefined;
}

/** The first entry of a list header, which the outermost proxy set. */
function firstOf(header: string | string[] | undefined): string | undefined {
  const first = unquoted(
    String(header ?? "")
      .split(",", 1)[0]
      ?.trim() ?? "",
  );
  return first === "" ? undefined : first;
}

function unquoted(text: string): string {
  return /^"(.*)"$/.exec(text)?.[1] ?? text;
}

/** Some proxies append the port, or a name that hides it: `[2001:db8::1]:443`, `192.0.2.1:_http`. */
function withoutPort(entry: string): string {
  return /^\[([^\]]*)\](?::[\w.-]+)?$/.exec(entry)?.[1] ?? /^([\d.]+):[\w.-]+$/.exec(entry)?.[1] ?? entry;
}

/** Without a zone. An IPv4-mapped IPv6 address becomes IPv4. Undefined if the text is no address. */
function plainAddress(text: string): string | undefined {
  if (isIPv4(text)) return text;
  const address = text.replace(/%.*$/, "");
  if (!isIPv6(address)) return undefined;
  const spelt = new SocketAddress({ address, family: "ipv6" }).address;
  return /^::ffff:([\d.]+)$/.exec(spelt)?.[1] ?? spelt;
}
