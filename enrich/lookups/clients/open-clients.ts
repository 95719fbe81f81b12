import Bowser from "bowser";
import { isbot } from "isbot";
import {
  UNKNOWN_CLIENT,
  type Client,
  type Lookups,
  type ReportedClient,
  type Automated,
} from "../../../schemas/records/enriched-event.js";
import { GenerationCache } from "../generation-cache.js";
import { isCrawler } from "./is-crawler.js";
import { clientName, clientVersion } from "./client-name.js";
import {
  findPlatform,
  namePlatform,
  parsePackageClient,
  USER_AGENT_LENGTH_MAX,
  BROWSER,
  parseProduct,
  type Product,
} from "./parse-package-client.js";

/** Longer ones are parsed anew each time, so that what the cache holds is bounded in bytes too. */
const CACHED_LENGTH_MAX = 1024;

/** Says which client a user agent belongs to; equal strings give the same object while it is cached. */
export function openClients({ cacheBytesMax }: { cacheBytesMax: number }): Lookups["clients"] {
  const cache = new GenerationCache<string, Client>(cacheBytesMax, sizeOf);
  const of = (userAgent: string) => {
    const known = cache.get(userAgent);
    if (known !== undefined) return known;
    const client = parseClient(userAgent);
    if (userAgent.length <= CACHED_LENGTH_MAX) cache.set(userAgent, client);
    return client;
  };
  return {
    of: (userAgent, reported) =>
      reported === undefined ? of(userAgent) : withReported(of(userAgent), reported),
  };
}

/** Bytes of an entry, besides the user agent. */
const ENTRY_BYTES = 300;

function sizeOf(userAgent: string): number {
  return ENTRY_BYTES + 2 * userAgent.length;
}

/** Package clients first, then robots, then browsers: robots often dress up as browsers, never the reverse. */
export function parseClient(userAgent: string): Client {
  const text = withoutQuotes(userAgent.slice(0, USER_AGENT_LENGTH_MAX).trim());
  const client = describe(text);
  const automated = findAutomated(text, client.client);
  const known = client.client !== "" || client.platform !== "" || automated !== "";
  return known ? Object.freeze({ ...client, automated }) : UNKNOWN_CLIENT;
}

/** Scripts send quotes of their shell along. */
function withoutQuotes(text: string): string {
  return /^["'`]/.test(text) ? text.replace(/^["'`\s]+|["'`\s]+$/g, "") : text;
}

type Described = Omit<Client, "automated">;

function describe(text: string): Described {
  const found = parsePackageClient(text);
  if (found?.kind === "os")
    return { client: found.name, clientVersion: found.version, platform: found.platform };
  if (found?.kind === "browser") return describeBrowser(text);
  if (found === undefined) return { client: "", clientVersion: "", platform: findPlatform(text) };
  const { installer, system } = found.details;
  const named = typeof system?.name === "string" ? findPlatform(system.name) : "";
  return clientOf(installer, named || findPlatform(text));
}

function describeBrowser(text: string): Described {
  if (isbot(text)) return clientOf(nameBot(text), findPlatform(text));
  const { browser, os } = Bowser.parse(text);
  const platform = namePlatform(os.name ?? "") || findPlatform(text);
  // Bowser makes names of its own of texts that it does not know.
  if (browser.name === undefined || !BROWSERS.has(browser.name))
    return clientOf(parseProduct(text.replace(DISGUISE, "")) ?? { name: "" }, platform);
  return { client: browser.name, clientVersion: clientVersion(browser.version ?? ""), platform };
}

const BROWSERS: ReadonlySet<string> = new Set(Object.values(Bowser.BROWSER_MAP));

/** The beginning of user agents of programs that want to be taken for a browser. */
const DISGUISE =
  /^(?:Mozilla|Opera)\/\d[\d.]{0,9}\s?(?:\([^()]{0,500}\)\s?)?(?:AppleWebKit\/\S+\s?|\(KHTML, like Gecko\)\s?|Gecko\/\S+\s?)*/i;

function clientOf({ name, version = "" }: Product, platform: string): Described {
  const client = clientName(name);
  const only = platform === "" ? ONLY_ON.get(client) : undefined;
  return { client, clientVersion: client === "" ? "" : clientVersion(version), platform: only ?? platform };
}

/** The platform of clients that run on one only and do not name it. */
const ONLY_ON: ReadonlyMap<string, string> = new Map([
  ["chocolatey", "Windows"],
  ["winget", "Windows"],
]);

/** A client that is reported without a version only stands in for one that the user agent does not name. */
function withReported(client: Client, reported: ReportedClient): Client {
  const { platform, client: name = "", clientVersion: version = "" } = reported;
  const named = platform === undefined ? client : { ...client, platform: namePlatform(platform) };
  if (name === "" || (version === "" && client.client !== "")) return named;
  return { ...named, client: clientName(name), clientVersion: clientVersion(version) };
}

/**
 * `bot` (robots, monitors, updaters), `ci` or `mirror` (copies of registries); empty for all others. The user
 * agent alone decides: many installers do not say where they run.
 */
function findAutomated(userAgent: string, client: string): Automated {
  if (CI.some((pattern) => pattern.test(userAgent))) return "ci";
  const known = KNOWN.get(client) ?? "";
  if (known !== "" || BOT_NAME.test(client) || UPDATER.test(userAgent)) return known || "bot";
  if (MIRROR.test(userAgent)) return "mirror";
  // isbot takes every program that is no browser for a robot.
  const isBot = BROWSER.test(userAgent) ? isbot(userAgent) : isCrawler(userAgent);
  return isBot ? "bot" : "";
}

/** Cubot makes telephones. */
const BOT_NAME = /(?:(?<!^cu)bot|crawler|spider)(?:-\w{1,20})?$/i;

/** Mirrors of npm name their host. */
const MIRROR = /\b(?:[\w-]+\.)?(?:cnpmjs\.org|npmmirror\.com)\b/i;

/** They let a container engine pull, whose user agent then names them in `UpstreamClient(...)`, or write a prefix. */
const UPDATER =
  /\b(?:watchtower|diun|ouroboros|whats-?up-docker|argocd-image-updater|image-reflector|dockcheck)\b/i;

/** Signs of continuous integration, as installers write them when its environment variables are set. */
const CI: readonly RegExp[] = [
  // pypa/pip src/pip/_internal/network/session.py, astral-sh/uv crates/uv-client/src/linehaul.rs, and those that follow them
  /^[\w.-]{1,40}\/\S{1,64} \{.{0,2000}"ci": ?true\b/,
  // npm/cli workspaces/config/lib/definitions/definitions.js, rubygems/rubygems bundler/lib/bundler/fetcher.rb
  /^(?:npm|pnpm|yarn|bun|bundler)\/\S{1,64} .{0,500}\bci\/\w/,
  // composer/composer src/Composer/Util/StreamContextFactory.php
  /^Composer\/\S{1,64} \(.{0,500}; CI\)/,
  // actions/runner src/Runner.Common/HostContext.cs
  /^GitHubActionsRunner-/i,
];

/** Names of `clientName`. */
const KNOWN: ReadonlyMap<string, Automated> = new Map([
  ...of("ci", "gitlab-runner buildkite-agent jenkins actions-http-client actions-tool-cache"),
  ...of(
    "mirror",
    "bandersnatch devpi z3c.pypimirror pep381client pep381client-proxy pep381run pypicloud verdaccio sinopia cnpmcore",
  ),
  ...of(
    "mirror",
    "artifactory nexus pulp pulpcore harbor proget gomodulemirror goproxy apt-cacher-ng apt-mirror debmirror aptly reposync",
  ),
  ...of(
    "bot",
    "Mediapartners-Google Google-InspectionTool GoogleOther ChatGPT-User Claude-User facebookexternalhit",
  ),
  ...of("bot", "WhatsApp Slackbot-LinkExpanding sogou screaming-frog scrapy renovate"),
  // They look at images, and pull none.
  ...of("bot", "cosign notation keel wud"),
  ...of("bot", "blackbox-exporter kube-probe elb-healthchecker googlehc"),
]);

function of(kind: Automated, names: string): [name: string, kind: Automated][] {
  return names.split(" ").map((name) => [name, kind]);
}

/** The first product whose name says that it is a robot, or the one after `compatible;`, or just "bot". */
function nameBot(userAgent: string): Product {
  const found = NAMED.exec(userAgent) ?? COMPATIBLE.exec(userAgent);
  if (found === null) return { name: "bot" };
  return found[2] === undefined ? { name: found[1]! } : { name: found[1]!, version: found[2] };
}

const VERSION = String.raw`(?:[/ ]v?(\d[\w.]{0,31}))?`;
const NAMED = new RegExp(
  String.raw`(?<![\w./:-])((?:[A-Za-z][\w-]{0,30})?(?:bot|crawler|spider|slurp|headlesschrome)[\w-]{0,20})${VERSION}`,
  "i",
);
const COMPATIBLE = new RegExp(String.raw`compatible; ([A-Za-z][\w.-]{1,40})${VERSION}`);
