import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Pool } from "pg";
import { aggregateRoutes } from "../../../api/exports/aggregates-routes.js";
import { eventRoutes } from "../../../api/exports/event-routes.js";
import { companyRoutes } from "../../../api/funnel/company-routes.js";
import { funnelRoutes, funnelRunRoutes } from "../../../api/funnel/funnel-routes.js";
import { funnelImportanceRoutes } from "../../../api/funnel/importance-routes.js";
import { erasureRoutes } from "../../../api/erasures/erasure-routes.js";
import { importEndingRoutes } from "../../../api/imports/import-ending-routes.js";
import { importFaultRoutes, importRecordRoutes } from "../../../api/imports/import-record-routes.js";
import { importRoutes } from "../../../api/imports/import-routes.js";
import { statisticsRoutes } from "../../../api/statistics/statistics-routes.js";
import { webhookDeliveryRoutes } from "../../../api/webhooks/delivery-routes.js";
import { webhookSecretRoutes } from "../../../api/webhooks/secret-routes.js";
import { webhookRoutes } from "../../../api/webhooks/webhook-routes.js";
import { createSealer } from "../../../api/identity/tokens.js";
import { openEmbeddedLog } from "../../../deploy/stores/embedded/event-log/event-log.js";
import { ActiveUploads } from "../../../ingest/import/active-uploads.js";
import { createGuard } from "../../../api/outbound/guard-address.js";
import { SECRET_KEY, type ServedApi, openTestPostgres, serveApi } from "./management-api.js";
import { openTestClickHouse } from "../stores/open-clickhouse.js";
import { PARAMETERS, type Place } from "./access-place.js";
import type { TabledRequest } from "./access-requests.js";

export interface WholeApi extends AsyncDisposable {
  api: ServedApi;
  pg: Pool;
}

/** Every route of the API on stores of its own, in this process; nothing consumes the event log. */
export async function openWholeApi(): Promise<WholeApi> {
  const dir = await mkdtemp(join(tmpdir(), "maintainer-toolchain-api-"));
  const [eventLog, clickhouse, postgres] = await Promise.all([
    openEmbeddedLog({ dir }),
    openTestClickHouse(),
    openTestPostgres(),
  ]);
  const { pg } = postgres;
  const guard = createGuard({ allowPrivateNetworks: true });
  const sealer = createSealer(SECRET_KEY, "webhook-secret");
  const deps = {
    pg,
    eventLog,
    clickhouse: clickhouse.client,
    shards: clickhouse.shards,
    active: new ActiveUploads(),
    guard,
    sealer,
  };
  const imports = [importRoutes, importEndingRoutes, importRecordRoutes, importFaultRoutes];
  const makers = [
    ...imports,
    aggregateRoutes,
    eventRoutes,
    companyRoutes,
    funnelRoutes,
    funnelImportanceRoutes,
    funnelRunRoutes,
    statisticsRoutes,
    erasureRoutes,
  ];
  const webhooks = [webhookRoutes, webhookSecretRoutes, webhookDeliveryRoutes];
  const api = await serveApi({ pg, routes: [...makers, ...webhooks].flatMap((make) => make(deps)) });
  const close = async () => {
    await api[Symbol.asyncDispose]();
    await postgres[Symbol.asyncDispose]();
    await clickhouse[Symbol.asyncDispose]();
    await eventLog[Symbol.asyncDispose]();
    await rm(dir, { recursive: true });
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
