import type { Pool } from "pg";
import { createSealer } from "../../../api/base/identity/tokens.js";
import { openLiveFeeds } from "../../../api/features/statistics/live/live-feeds.js";
import { createGuard } from "../../../api/base/outbound/guard-address.js";
import { ActiveUploads } from "../../../ingest/import/active-uploads.js";
import { openTestClickHouse } from "../stores/open-clickhouse.js";
import { PARAMETERS, type Place } from "./access-place.js";
import type { TabledRequest } from "./access-requests.js";
import { ROUTE_MAKERS } from "./all-routes.js";
import {
  SECRET_KEY,
  type ServeOptions,
  type ServedApi,
  openTestPostgres,
  serveApi,
} from "./management-api.js";
import { openTestLog } from "./use-world.js";

export interface WholeApi extends AsyncDisposable {
  api: ServedApi;
  pg: Pool;
}

/** Every route of the API on stores of its own, and further ones, in this process; nothing consumes the event log. */
export async function openWholeApi({
  routes = [],
  ...options
}: Partial<ServeOptions> = {}): Promise<WholeApi> {
  const opened = [await openTestLog(), await openTestClickHouse(), await openTestPostgres()] as const;
  const [eventLog, clickhouse, { pg }] = opened;
  // Closed: a stream is answered and ends at once.
  const feeds = openLiveFeeds(async () => []);
  feeds[Symbol.dispose]();
  const deps = {
    feeds,
    pg,
    eventLog,
    clickhouse: clickhouse.client,
    shards: clickhouse.shards,
    isSharded: clickhouse.shards.shards.length > 1,
    active: new ActiveUploads(),
    // No registry is asked.
    access: { fetch: () => () => Promise.reject(new Error("not asked")), urls: {} },
    guard: createGuard({ allowPrivateNetworks: true }),
    sealer: createSealer(SECRET_KEY, "webhook-secret"),
    linkBase: () => "https://stats.acme.example",
    sendMail: () => Promise.resolve(),
  };
  const all = [...ROUTE_MAKERS.flatMap((make) => make(deps)), ...routes];
  const api = await serveApi({ ...options, pg, routes: all });
  const close = async () => {
    for (const each of [...opened, api].toReversed()) await each[Symbol.asyncDispose]();
  };
  return { api, pg, [Symbol.asyncDispose]: close };
}

interface Sent {
  /** The caller's own where none is given; no header at all where it is empty. */
  token?: string;
  headers?: Record<string, string>;
}

interface Answered {
  /** `200`, or with its code: `404 not-found`. */
  outcome: string;
  requestId: string;
}

export async function sendRequest(
  { url }: Pick<ServedApi, "url">,
  request: TabledRequest,
  { place, token = place.caller.token, headers = {} }: Sent & { place: Place },
): Promise<Answered> {
  const body = request.body?.(place);
  const response = await fetch(url + (await pathOf(request, place)), {
    method: request.route.method,
    headers: { ...(token !== "" && { authorization: `Bearer ${token}` }), ...request.headers, ...headers },
    ...(body !== undefined && { body: typeof body === "string" ? body : JSON.stringify(body) }),
  });
  const text = await response.text();
  const code = response.ok ? "" : ` ${(JSON.parse(text) as { code: string }).code}`;
  const requestId = response.headers.get("x-request-id") ?? "";
  return { outcome: `${response.status}${code}`, requestId };
}

/** Whether an outcome is the success of the operation. */
export function isSuccess({ route }: TabledRequest, outcome: string): boolean {
  return outcome in route.operation.answers;
}

/** With its query; what the path names and is not there yet is made. */
export async function pathOf({ route, path = {}, query }: TabledRequest, place: Place): Promise<string> {
  const parts = String(route.path)
    .split(/(:\w+)/)
    .map(async (part) => {
      const parameter = part.startsWith(":") ? part.slice(1) : undefined;
      return parameter === undefined ? part : (path[parameter] ?? PARAMETERS[parameter])?.(place);
    });
  return (await Promise.all(parts)).join("") + (query?.(place) ?? "");
}
