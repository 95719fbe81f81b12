import { afterAll, beforeAll, vi } from "vitest";
import type { ApiClient } from "../../../deploy/demo/api-client.js";
import type { PackageDomainV1 } from "../../../schemas/contracts/package-routing.js";
import { openPersistentClickHouse, type PersistentClickHouse } from "../../faults/worlds/fault-world.js";
import { callCollect, type CollectCall, type CollectReply } from "./collect-client.js";
import { makeExporter } from "../imports/import-world.js";
import { makePackage, makePixel } from "../imports/make-artifacts.js";
import { startToolchain, type Toolchain, type ToolchainOptions } from "../program/start-toolchain.js";

const SERVED_MS_MAX = 60_000;

export const COLLECT_ORGANIZATION = "collecting";

/** An event as it is stored, and how often. */
export interface StoredEvent {
  id: string;
  type: string;
  version: string;
  domain: string;
  referer: string;
  userAgent: string;
  platform: string;
  client: string;
  country: string;
  originId: string;
  endpointId: string;
  variables: Record<string, string>;
  times: number;
}

export interface SentRoute {
  templatePath: string;
  outgoingUrl: string;
}

/** The program, an organization in it, and what its collector serves. */
export interface CollectWorld extends AsyncDisposable {
  readonly toolchain: Toolchain;
  readonly api: ApiClient;
  readonly clickhouse: PersistentClickHouse;
  /** Asks the collector of the process that runs now. */
  call(call: CollectCall): Promise<CollectReply>;
  /** A file package on these domains; resolves when they are served. */
  newFilePackage(made: { name: string; domains: string[]; routes: SentRoute[] }): Promise<string>;
  /** Takes its domains from a package; resolves when they are not served any more. */
  dropDomains(packageId: string, routes: readonly SentRoute[]): Promise<void>;
  newPixel(name: string): Promise<string>;
  /** Events of a package or pixel, in the order in which they came. */
  events(artifactId: string): Promise<StoredEvent[]>;
}

/** Of the suite that runs. */
export let world: CollectWorld;

/** A world for the tests of a suite: open before the first, closed after the last. */
export function useCollectWorld(options?: ToolchainOptions): void {
  let own: CollectWorld | undefined;
  beforeAll(async () => void (world = own = await openCollectWorld(options)));
  afterAll(() => own?.[Symbol.asyncDispose]());
}

async function openCollectWorld(options: ToolchainOptions = {}): Promise<CollectWorld> {
  const toolchain = await startToolchain(options);
  const api = await makeExporter(toolchain, COLLECT_ORGANIZATION);
  const clickhouse = openPersistentClickHouse(() => toolchain.endpoints.clickhouse ?? "");
  const call = (asked: CollectCall) => callCollect(toolchain.endpoints.collect, asked);
  return {
    toolchain,
    api,
    clickhouse,
    call,
    async newFilePackage({ name, domains, routes }) {
      const made = { organization: COLLECT_ORGANIZATION, name, libraryType: "other" } as const;
      const { id } = await makePackage(api, made);
      for (const route of routes) await api.post(`/v1/packages/${id}/routes`, route);
      for (const domain of domains) await api.post(`/v1/packages/${id}/domains`, { name: domain });
      for (const host of domains)
        for (const { templatePath } of routes) await untilServed(call, { host, templatePath }, true);
      return id;
    },
    async dropDomains(packageId, routes) {
      const path = `/v1/packages/${packageId}/domains`;
      for (const { id, name } of await api.get<PackageDomainV1[]>(path)) {
        await api.request(`${path}/${id}`, { method: "DELETE" });
        for (const { templatePath } of routes) await untilServed(call, { host: name, templatePath }, false);
      }
    },
    newPixel: async (name) => (await makePixel(api, { owner: COLLECT_ORGANIZATION, name })).id,
    async events(artifactId) {
      return clickhouse.rows<StoredEvent>(`
        SELECT toString(event_id) AS id, type, package_version AS version, domain, referer, user_agent AS userAgent, platform, client, country,
          hex(origin_id) AS originId, hex(endpoint_id) AS endpointId, variables, toInt32(sum(sign)) AS times
        FROM events WHERE artifact = '${artifactId}'
        GROUP BY ALL ORDER BY min(events.version)`);
    },
    async [Symbol.asyncDispose]() {
      await toolchain.close();
    },
  };
}

/** Asks with HEAD, which is no event. */
async function untilServed(
  call: CollectWorld["call"],
  { host, templatePath }: { host: string; templatePath: string },
  served: boolean,
): Promise<void> {
  const path = templatePath.replace(/\{[^}]*\}/g, "probe");
  const asServed = async () => {
    const { status } = await call({ method: "HEAD", host, path });
    if ((status !== 404) !== served) throw new Error(`${host}${path} is answered with ${status}`);
  };
  await vi.waitFor(asServed, { timeout: SERVED_MS_MAX, interval: 20 });
}
