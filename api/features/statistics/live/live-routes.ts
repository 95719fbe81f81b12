import type { Pool } from "pg";
import { readLatestEvents } from "../../../../aggregate/queries/events/latest-events.js";
import { LIVE_EVENTS, type LiveEvent } from "../../../../schemas/contracts/live-event.js";
import type { ClickHouse } from "../../../../schemas/shards.js";
import type { Account } from "../../../base/access/access.js";
import type { OwnerAction } from "../../../base/access/resources.js";
import { limitWork } from "../../../base/http/limit-work.js";
import { type Call, type Route, route } from "../../../base/http/route.js";
import { readExportState } from "../../imports/export-state.js";
import type { Postgres } from "../../../base/postgres/query.js";
import { ownerInPartFor, pixelsInPart } from "../statistics-scope.js";
import { STREAMS_MAX, countStreams } from "./count-streams.js";
import { type LiveScope, openEventStream } from "./event-stream.js";
import { EVENTS_MAX, type LiveFeeds, type ReadSince } from "./live-feeds.js";

interface LiveStores {
  pg: Pool;
  clickhouse: ClickHouse;
}

const HOUR_MS = 3_600_000;
const LISTED_MAX = 50;
/** A poll reads for all who follow an owner. */
const POLLED_MAX = 1_000;
const QUERIES = { atOnce: { perKey: 2, inAll: 4 }, remedy: "Try again later." };

/** What the feeds of live events read. */
export function readSince({ pg, clickhouse }: LiveStores): ReadSince {
  return async ({ ownerId, ...asked }) => {
    const { unsettled } = await readExportState(pg, [ownerId]);
    const limits = { each: EVENTS_MAX, all: POLLED_MAX, erasures: unsettled.erasures };
    return readLatestEvents(clickhouse, { ...asked, ...limits });
  };
}

/** What arrives now: the last events, and a stream of them. */
export function liveRoutes({ pg, clickhouse, feeds }: LiveStores & { feeds: LiveFeeds }): Route[] {
  const runLimited = limitWork(QUERIES);
  const count = countStreams();
  return [
    route({
      method: "GET",
      path: "/v2/:owner/live",
      action: "stats.read",
      operation: {
        id: "listLiveEvents",
        summary: "List the latest events",
        description: `Up to ${LISTED_MAX} events of the last hour, newest first. ${SEEN}`,
        answers: {
          200: { description: "The events", schema: LIVE_EVENTS, example: { events: [EXAMPLE] } },
        },
      },
      async handle({ ctx, account, action, param }) {
        const { ownerId, names } = await liveScope(pg, { account, action, owner: param("owner") });
        const { unsettled } = await readExportState(pg, [ownerId]);
        const events = await runLimited(ctx, { caller: account.id }, (signal) =>
          readLatestEvents(clickhouse, {
            artifacts: [...names.keys()],
            sinceMs: Date.now() - HOUR_MS,
            each: LISTED_MAX,
            all: LISTED_MAX,
            erasures: unsettled.erasures,
            signal,
          }),
        );
        ctx.body = { events: events.map((each) => ({ ...each, name: names.get(each.artifact_id) ?? "" })) };
      },
    }),
    route({
      method: "GET",
      path: "/v2/:owner/live/stream",
      action: "stats.read",
      operation: {
        id: "streamLiveEvents",
        summary: "Stream events as they arrive",
        description:
          `Server-sent events: one message per event, at most ${EVENTS_MAX} a second. ${SEEN} The stream ` +
          "ends when you lose access, or when your token or session expires. An account can have " +
          `${STREAMS_MAX.perAccount} streams at once.`,
        answers: {
          200: {
            description:
              "A stream of messages, each with a `LiveEvent` as its data, and of comments that keep the connection open",
            schema: { type: "string" },
            example: `data: ${JSON.stringify(EXAMPLE)}\n\n`,
            types: ["text/event-stream"],
          },
        },
        problems: ["rate-limited"],
      },
      handle: (call) => answerStream(call, { pg, feeds, count }),
    }),
  ];
}

const SEEN =
  "Covers the packages and pixels you can see. Does not include IP addresses, user agents, cities or " +
  "variables. An event that replaces another event is listed separately.";

const EXAMPLE: LiveEvent = {
  id: "722f4f73cf197a447837a7f913a10100",
  time: "2026-11-01T08:00:00.000000Z",
  name: "tools",
  kind: "package",
  artifact_id: "01a1fbad-cab4-710c-82a1-b3f3576e59e4",
  type: "file-download",
  version: "1.4.0",
  country: "DE",
  client: "curl",
  client_version: "8.5.0",
  platform: "Linux",
  company: "Mercedes-Benz",
  company_domain: "mercedes-benz.com",
  automated: "",
};

interface Asking {
  account: Account;
  action: OwnerAction;
  owner: string;
}

/** As for statistics: a caller without a role has the packages on which they have a level. */
async function liveScope(pg: Postgres, { account, action, owner }: Asking): Promise<LiveScope> {
  const part = await ownerInPartFor(pg, account, owner, action);
  const pixels = await pixelsInPart(pg, part);
  const names = [...part.packages, ...pixels].map(({ id, name }) => [id, name] as const);
  return { ownerId: part.owner.id, names: new Map(names) };
}

async function answerStream(
  { ctx, account, action, param }: Call<"stats.read">,
  { pg, feeds, count }: { pg: Pool; feeds: LiveFeeds; count: ReturnType<typeof countStreams> },
): Promise<void> {
  const owner = param("owner");
  const { requireCaller } = ctx.state;
  const scope = await liveScope(pg, { account, action, owner });
  ctx.type = "text/event-stream";
  // Else nginx would hold messages back.
  ctx.set("X-Accel-Buffering", "no");
  if (ctx.method === "HEAD") return void (ctx.status = 200);
  const { left } = ctx.state;
  // A signal that has aborted tells nobody again.
  left.throwIfAborted();
  const counted = count(account.id);
  left.addEventListener("abort", () => counted[Symbol.dispose](), { once: true });
  ctx.body = openEventStream({
    feeds,
    scope,
    readScope: async () => liveScope(pg, { account: (await requireCaller?.(pg)) ?? account, action, owner }),
    left,
    cutOff: () => ctx.res.destroy(),
  });
}
