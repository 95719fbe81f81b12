import { parsePythonClient, type ClientDetails } from "./parse-python-client.js";
import { PLATFORMS } from "../../../schemas/contracts/platforms.js";

export type PackageClient =
  | { kind: "installer"; details: ClientDetails }
  | { kind: "browser" }
  /** The fetcher of an operating system's own ports or packages. */
  | { kind: "os"; name: string; version: string; platform: string };

/** Longer user agents are cut: no client sends as much, and the work stays bounded. */
export const USER_AGENT_LENGTH_MAX = 2048;

/**
 * Pure; never throws. The forms of Python's installers, and the fields taken from them, follow PyPI's own
 * statistics (https://github.com/pypi/linehaul-cloud-function).
 */
export function parsePackageClient(userAgent: string): PackageClient | undefined {
  const text = userAgent.slice(0, USER_AGENT_LENGTH_MAX).trim();
  const python = parsePythonClient(text);
  if (python !== undefined) return { kind: "installer", details: python };
  for (const { pattern, name, platform } of OS_FETCHERS) {
    const found = pattern.exec(text);
    if (found !== null) return { kind: "os", name, version: found[1] ?? "", platform };
  }
  if (BROWSER.test(text) && parseIrregular(text) === undefined) return { kind: "browser" };
  const details = NOTHING.test(text) ? undefined : parseInstaller(text);
  return details === undefined ? undefined : { kind: "installer", details };
}

/** How the user agents of browsers begin. */
export const BROWSER = /^(?:Mozilla|Opera|Safari)\b/i;

/** Without a letter, or a program's word for no value. */
const NOTHING = /^(?:[^A-Za-z]*|\W*(?:null|none|nil|undefined|unknown|n\/a)\W*)$/i;

const OS_FETCHERS: readonly { pattern: RegExp; name: string; platform: string }[] = [
  { pattern: /^(?:fetch )?libfetch\//, name: "libfetch", platform: "FreeBSD" },
  { pattern: /^OpenBSD ftp/, name: "ftp", platform: "OpenBSD" },
  { pattern: /^NetBSD-ftp\/(\d\w{0,31})/, name: "ftp", platform: "NetBSD" },
  { pattern: /^MacPorts\/(\d[\w.-]{0,31})/, name: "macports", platform: "macOS" },
  { pattern: /^(?:slapt-get|slackrepo)/, name: "slackware", platform: "Linux" },
  { pattern: /^xbps\/(\d[\w.-]{0,31})/, name: "xbps", platform: "Linux" },
  { pattern: /^Microsoft BITS\/(\d[\w.-]{0,31})/, name: "Microsoft BITS", platform: "Windows" },
  { pattern: /^PTXdist/, name: "ptxdist", platform: "Linux" },
  { pattern: /^GARstow\/(\d[\w.-]{0,31})?/, name: "garstow", platform: "" },
  { pattern: /^pypi-install\/(\d[\w.-]{0,31})?/, name: "pypi-install", platform: "Linux" },
];

/** Recognises package managers, container tools and download tools by how their user agents begin. */
function parseInstaller(text: string): ClientDetails | undefined {
  const product = parseIrregular(text) ?? parseProduct(text.replace(PARTNER, ""));
  return product === undefined ? undefined : { installer: product };
}

/** Amazon's partner network, then the partner, then its product. */
const PARTNER = /^(?:APN\/1\.\d )?(?:HashiCorp\/1\.\d )/;

/** Those that are named otherwise, or whose version is not right after the name that they begin with. */
function parseIrregular(text: string): Product | undefined {
  for (const { pattern, name } of IRREGULAR) {
    const found = pattern.exec(text);
    if (found === null) continue;
    const version = found[1];
    return version === undefined ? { name } : { name, version };
  }
  return undefined;
}

const IRREGULAR: readonly { pattern: RegExp; name: string }[] = [
  { pattern: /^(?:Debian|Ubuntu) APT(?:-HTTP|-CURL)?\/[\d.]{1,20} \(([\w.+~-]{1,64})/i, name: "apt" },
  { pattern: /^NuGet[\w .+-]{0,60}\/(\d[\w.+-]{0,63})/i, name: "nuget" },
  { pattern: /^Chocolatey[\w .+-]{0,60}\/(\d[\w.+-]{0,63})/i, name: "chocolatey" },
  { pattern: /^Chef (?:Infra )?(?:Client|Knife|Workstation)(?:\/(\d[\w.+-]{0,63}))?/i, name: "chef" },
  { pattern: /^(?:The )?Haskell Stack(?:[/ ](\d[\w.]{0,63}))?/i, name: "stack" },
  // All of the version, as PyPI's statistics have it: bazelbuild/bazel HttpConnectorMultiplexer.java, `getReleaseName`.
  { pattern: /^Bazel\/(?:release )?(.{1,64})$/i, name: "bazel" },
  { pattern: /^pulumi-cli\/\d+ \((v?\d[\w.+-]{0,63})/i, name: "pulumi" },
  { pattern: /^Datadog Agent\/(\d[\w.+-]{0,63})/i, name: "datadog-agent" },
  { pattern: /^Blackbox Exporter\/(\d[\w.+-]{0,63})/i, name: "blackbox-exporter" },
  { pattern: /^Sogou web spider(?:\/(\d[\w.]{0,63}))?/i, name: "sogou" },
  { pattern: /^Screaming Frog SEO Spider(?:\/(\d[\w.]{0,63}))?/i, name: "screaming-frog" },
  { pattern: /^Symfony HttpClient\b/i, name: "symfony-httpclient" },
  { pattern: /^actions\/http-client\b/i, name: "actions-http-client" },
  { pattern: /^actions\/tool-cache\b/i, name: "actions-tool-cache" },
  { pattern: /^regclient\/\w{1,40}(?: \(v?(\d[\w.+-]{0,63})\))?/i, name: "regclient" },
  { pattern: /^GitHub CLI(?: v?(\d[\w.+-]{0,63}))?/i, name: "gh" },
  { pattern: /^OTel OTLP Exporter Go(?:\/(\d[\w.+-]{0,63}))?/i, name: "otel-otlp-exporter-go" },
  { pattern: /^OTel OTLP Exporter Java(?:\/(\d[\w.+-]{0,63}))?/i, name: "otel-otlp-exporter-java" },
  // A library that downloads for the program that it names after itself.
  { pattern: /^urlgrabber\/\S{1,64} yum\/(\d[\w.+-]{0,63})/i, name: "yum" },
  { pattern: /^(?:lib)?curl\/\S{1,64} (?:r-curl\/\S{1,64} )?httr\/(\d[\w.+-]{0,63})/i, name: "httr" },
  { pattern: /^curl\/\S{1,64} Nix\/(\d[\w.+-]{0,63})/i, name: "nix" },
  { pattern: /^curl\/\S{1,64} julia\/(\d[\w.+-]{0,63})/i, name: "julia" },
  { pattern: /^apitools\b.{0,80}\bgsutil\/(\d[\w.]{0,63})/i, name: "gsutil" },
  { pattern: /^Python\/[\d.]{1,20} aiohttp\/(\d[\w.]{0,63})/, name: "aiohttp" },
  { pattern: /^Mozilla\/5\.0 \([^)]{0,200}\) (?:Windows)?PowerShell\/(\d[\w.]{0,63})/, name: "powershell" },
  // The number after Go-http-client is the version of HTTP, not of Go.
  { pattern: /^Go-http-client\//, name: "go" },
  { pattern: /^Go \d\.\d package http$/, name: "go" },
];

/** A program as its user agent names it; neither name nor version are checked. */
export interface Product {
  name: string;
  version?: string;
}

/**
 * The program that no other rule knows: its first `name/version` or `name version`, or its first word with
 * the version in brackets after it, or that word alone.
 */
export function parseProduct(text: string): Product | undefined {
  const [head = "", comment = ""] = text.split("(", 2);
  const words = (head.trim() === "" ? withoutComments(text) : head).split(/[\s;,]+/).filter(Boolean);
  let first: string | undefined;
  for (const [index, word] of words.slice(0, WORDS_MAX).entries()) {
    const product = PRODUCT.exec(word);
    if (product !== null) return { name: product[1]!, version: product[2]! };
    if (!NAME.test(word)) continue;
    const [name = ""] = word.split("/", 1);
    // A slash without a number after it ends the search, too: `npm/? node/v20.10.0` is npm.
    if (word.includes("/")) return { name: first ?? name };
    const version = VERSION.exec(words[index + 1] ?? "")?.[1];
    if (version !== undefined) return { name, version };
    first ??= name;
  }
  if (first === undefined) return undefined;
  const version = DOTTED.exec(comment)?.[1];
  return version === undefined ? { name: first } : { name: first, version };
}

/** How many words may stand before the product. */
const WORDS_MAX = 5;

/** The name may be a path such as `github.com/acme/tool`. What follows the version in the same word is left out. */
const PRODUCT = /^([\w@][\w.@+:-]*(?:\/[A-Za-z][\w.@+:-]*)*)\/v?(\d[\w.+~-]*)/i;
const NAME = /^[A-Za-z@][\w.@+-]*(?:\/\S*)?$/;
const VERSION = /^v?(\d[\w.+~-]*)$/i;
const DOTTED = /^v?(\d+\.[\w.+~-]*)/;

function withoutComments(text: string): string {
  return text.replaceAll(/\([^()]*\)?/g, " ");
}

/** The operating system that a user agent names, or "". */
export function findPlatform(userAgent: string): string {
  // Docker sends two systems. The first is the engine's, which downloads; the client's is ignored.
  const tagged = /\bos\/([A-Za-z]{1,20})\b/.exec(userAgent)?.[1];
  const found = (tagged !== undefined && findName(tagged)) || findName(userAgent);
  if (found !== undefined) return found;
  return OTHERS.find(({ pattern }) => pattern.test(userAgent))?.name ?? "";
}

/** The platform of a request or a report that says it itself: the name of `PLATFORMS`, else the text as it is. */
export function namePlatform(text: string): string {
  return findName(text) ?? text;
}

/** Words are runs of letters, so that `win32` names Windows, and `x86_64-unknown-linux-musl` Linux. */
function findName(text: string): string | undefined {
  const words = new Set(text.match(/[A-Za-z]+/g)?.map((word) => word.toLowerCase()));
  return PLATFORMS.find((platform) => platform.words.some((word) => words.has(word)))?.name;
}

/** Systems that only whole phrases tell, or that are no platform of the list. */
const OTHERS: readonly { name: string; pattern: RegExp }[] = [
  { name: "macOS", pattern: /\bApple Git\b/ },
  { name: "Linux", pattern: /\bred hat\b/i },
  { name: "DragonFly", pattern: /\bDragonFly\b/ },
  { name: "Chrome OS", pattern: /\b(?:cros|chrome ?os|chromium os)\b/i },
];
