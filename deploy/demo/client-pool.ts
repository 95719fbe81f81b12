import { pickNetwork } from "./networks.js";
import { Random } from "./random.js";
import { type Audience, pickUserAgent } from "./user-agents.js";

/** One machine that downloads repeatedly, as parts of a JSON line. Each part starts with a comma or is empty. */
export interface DemoClient {
  /** One address in several notations: `,"$remote_address":"..."`. */
  addresses: readonly string[];
  /** `,"$user_agent":"..."`, or the same within `"$headers"`. */
  agent: string;
}

/**
 * The first `size` clients of an audience. Clients are created once and picked by rank, because a user agent costs more
 * time than the rest of a line, and most real downloads come from few clients.
 */
export function clientPool(audience: Audience, { seed, size }: { seed: number; size: number }): DemoClient[] {
  const purpose = POOL_PURPOSE + AUDIENCES.indexOf(audience);
  return Array.from({ length: size }, (_, rank) => clientAt(audience, Random.at(seed, rank, purpose)));
}

const POOL_PURPOSE = 100;
const AUDIENCES: readonly Audience[] = ["docker", "npm", "hackage", "pypi", "other", "pixel"];

function clientAt(audience: Audience, random: Random): DemoClient {
  const known = !random.chance(0.02);
  return {
    addresses: known
      ? pickAddress(random).map((text) => `,"$remote_address":"${text}"`)
      : ["", ',"$remote_address":null'],
    agent: random.chance(0.03) ? "" : agentField(pickUserAgent(audience, random), random),
  };
}

function agentField(userAgent: string, random: Random): string {
  const text = JSON.stringify(userAgent);
  if (!random.chance(0.06)) return `,"$user_agent":${text}`;
  const name = random.pick(["User-Agent", "user-agent"]);
  return `,"$headers":[{"name":"Accept","value":"*/*"},{"name":"${name}","value":${text}}]`;
}

/** Adds an IPv6 address also in capitals with all zeros, which must count as the same address. */
function pickAddress(random: Random): string[] {
  const { v4, v6 } = pickNetwork(random);
  if (v6 === undefined || !random.chance(0.15)) {
    return [`${random.pick(v4)}.${random.below(256)}.${1 + random.below(254)}`];
  }
  const host = [random, random, random, random].map((source) => (1 + source.below(0xffff)).toString(16));
  const groups = [...v6.split(":"), "1", ...host];
  const padded = groups.map((group) => group.padStart(4, "0"));
  return [groups.join(":"), padded.join(":").toUpperCase()];
}
