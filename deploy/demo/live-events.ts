import { Agent, request } from "node:http";
import { DEMO_NETWORKS } from "./client-pool.js";
import { RELEASES } from "./event-details.js";
import { Random } from "./random.js";
import { pickUserAgent } from "./user-agents.js";

export interface LiveEvents {
  /** The live collection, which believes `X-Forwarded-For` of this machine. */
  collectUrl: string;
  /** The host of a package with files. */
  host: string;
  pixel: string;
  seed: number;
}

const PAUSE_MS = 400;
/** Bounds a demo that nobody ends: about an hour. */
const REQUESTS_MAX = 9_000;
const VERSIONS = RELEASES.slice(0, 3).map((version) => `v${version}`);

/** Sends a few downloads and views a second, one after another, until disposed of. */
export function startLiveEvents(events: LiveEvents): AsyncDisposable {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  const random = Random.at(events.seed, 0, LIVE);
  let sent = 0;
  const timer = setInterval(() => {
    sent += 1;
    if (sent === REQUESTS_MAX) clearInterval(timer);
    send(events, { agent, random });
  }, PAUSE_MS);
  return {
    async [Symbol.asyncDispose]() {
      clearInterval(timer);
      agent.destroy();
    },
  };
}

/** A random stream, beside those of lines. */
const LIVE = 300;

/** The companies of stories stay where these leave them. */
const NETWORKS = DEMO_NETWORKS.filter(({ kind }) => kind !== "visitor");

/** A request that fails is one event less. */
function send({ collectUrl, host, pixel }: LiveEvents, { agent, random }: { agent: Agent; random: Random }) {
  const { v4 } = random.pick(NETWORKS);
  const isView = random.chance(0.3);
  const path = isView
    ? `/a.png?x-pxid=${pixel}&page=https://docs.example.org/install`
    : `/${random.pickSkewed(VERSIONS)}/toolkit-linux-x64.tgz`;
  const headers = {
    ...(!isView && { host }),
    "user-agent": pickUserAgent(isView ? "pixel" : "other", random),
    "x-forwarded-for": `${random.pick(v4)}.${random.below(256)}.${1 + random.below(254)}`,
  };
  request(new URL(path, collectUrl), { agent, headers }, (answer) => answer.resume())
    .on("error", () => undefined)
    .end();
}
