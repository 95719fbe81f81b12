import Bowser from "bowser";
import { isbot } from "isbot";
import { UNKNOWN_CLIENT } from "../../../schemas/records/enriched-event.js";
import type { Client, Lookups } from "../../../schemas/records/enriched-event.js";
import { GenerationCache } from "../../caches/generation-cache.js";
import { clientName, clientVersion } from "./client-name.js";
import { findAutomated } from "./find-automated.js";
import { findPlatform, namePlatform } from "./find-platform.js";
import { nameBot } from "./name-bot.js";
import { parsePackageClient, USER_AGENT_LENGTH_MAX } from "./parse-package-client.js";
import { parseProduct, type Product } from "./parse-product.js";
import { withReported } from "./with-reported.js";

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
  const text = userAgent.slice(0, USER_AGENT_LENGTH_MAX).trim();
  const client = describe(text);
  const automated = findAutomated(text, client.client);
  const known = client.client !== "" || client.platform !== "" || automated !== "";
  return known ? Object.freeze({ ...client, automated }) : UNKNOWN_CLIENT;
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
  ["bits", "Windows"],
  ["chocolatey", "Windows"],
  ["winget", "Windows"],
]);
