import Bowser from "bowser";
import { isbot } from "isbot";
import { UNKNOWN_CLIENT } from "../../../schemas/records/enriched-event.js";
import type { Client, Lookups } from "../../../schemas/records/enriched-event.js";
import { GenerationCache } from "../../caches/generation-cache.js";
import { findPlatform } from "./find-platform.js";
import { nameBot } from "./name-bot.js";
import { parsePackageClient, USER_AGENT_LENGTH_MAX } from "./parse-package-client.js";
import type { PackageClient } from "./parse-package-client.js";

/** Longer ones are parsed anew each time, so that what the cache holds is bounded in bytes too. */
const CACHED_LENGTH_MAX = 1024;

/** Says which client a user agent belongs to; equal strings give the same object while it is cached. */
export function openClients({ cacheBytesMax }: { cacheBytesMax: number }): Lookups["clients"] {
  const cache = new GenerationCache<string, Client>(cacheBytesMax, sizeOf);
  return {
    of: (userAgent) => {
      const known = cache.get(userAgent);
      if (known !== undefined) return known;
      const client = parseClient(userAgent);
      if (userAgent.length <= CACHED_LENGTH_MAX) cache.set(userAgent, client);
      return client;
    },
  };
}

/** Bytes of an entry, besides the user agent. */
const ENTRY_BYTES = 300;

function sizeOf(userAgent: string): number {
  return ENTRY_BYTES + 2 * userAgent.length;
}

/** Package clients first, then robots, then browsers: robots often dress up as browsers, never the reverse. */
export function parseClient(userAgent: string): Client {
  const text = userAgent.slice(0, USER_AGENT_LENGTH_MAX);
  const client = describePackageClient(parsePackageClient(text), text) ?? describeBrowser(text);
  return client === undefined ? UNKNOWN_CLIENT : Object.freeze(client);
}

function describePackageClient(found: PackageClient | undefined, text: string): Client | undefined {
  if (found?.kind === "os") return { client: found.name, clientVersion: "", platform: found.platform };
  if (found?.kind !== "installer") return undefined;
  const { installer, system } = found.details;
  const named = typeof system?.name === "string" ? findPlatform(system.name) : "";
  return {
    client: installer.name,
    clientVersion: installer.version ?? "",
    platform: named || findPlatform(text),
  };
}

function describeBrowser(text: string): Client | undefined {
  if (NOTHING.test(text)) return undefined;
  if (isbot(text)) return { ...nameBot(text), platform: findPlatform(text) };
  const { browser, os } = Bowser.parse(text);
  if (browser.name === undefined || browser.name === "") return undefined;
  return { client: browser.name, clientVersion: browser.version ?? "", platform: os.name ?? "" };
}

/** Without a letter, or a program's word for no value. */
const NOTHING = /^(?:[^A-Za-z]*|\(?(?:null|none|nil|undefined|unknown)\)?)$/i;
