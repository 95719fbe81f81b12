import { once } from "node:events";
import { readFileSync } from "node:fs";
import { type AddressInfo, type Socket, connect } from "node:net";
import { createServer } from "node:tls";
import { join } from "node:path";
import { pino } from "pino";
import { describe, expect, test } from "vitest";
import { parseConfig } from "../../../../deploy/config/config.js";
import { clickhouseSource, clusterServers } from "../../../../deploy/stores/clickhouse/clickhouse-source.js";
import { ClusterServer } from "../../../../deploy/stores/clickhouse/cluster/cluster-server.js";
import {
  type EmbeddedClickHouse,
  startClickHouse,
} from "../../../../deploy/stores/embedded/clickhouse/clickhouse.js";
import type { Authority } from "../../../support/networks/make-authority.js";
import { tlsStoreSuite } from "../../../support/stores/tls-store-suite.js";

describe("a ClickHouse behind TLS, with certificates of an authority of one's own", () => {
  const { env, authorityAlone, refusal } = tlsStoreSuite({
    prefix: "CLICKHOUSE",
    async open(dir, authority) {
      const clickhouse = await startClickHouse({
        dir: join(dir, "clickhouse"),
        log: pino({ level: "silent" }),
      });
      const secure = await openSecurePort(clickhouse.url, authority);
      return {
        env: { CLICKHOUSE_URL: withCredentials(secure.url, clickhouse) },
        async [Symbol.asyncDispose]() {
          await secure[Symbol.asyncDispose]();
          await clickhouse[Symbol.asyncDispose]();
        },
      };
    },
  });

  test("is refused under a name that its certificate has not", async () => {
    const other = env()["CLICKHOUSE_URL"]?.replace("127.0.0.1", "localhost") ?? "";
    expect(await refusal({ CLICKHOUSE_URL: other })).toContain(
      "The server's certificate is not valid for the host name in CLICKHOUSE_URL or CLICKHOUSE_SHARDS",
    );
  });

  test("wants a certificate, and the start without one says which variables give it", async () => {
    expect(await refusal(authorityAlone)).toContain(
      "The server requires a client certificate that it trusts: set cert and key in CLICKHOUSE_TLS",
    );
  });

  test("counts as up among the servers of a cluster with its certificates alone", async () => {
    const shards = { CLICKHOUSE_SHARDS: `a: ${new URL(env()["CLICKHOUSE_URL"] ?? "").origin}` };
    const isUp = (variables: Record<string, string>) => {
      const { url, cluster } = clickhouseSource(parseConfig({ ...variables, ...shards }));
      const [server = ""] = cluster === undefined ? [] : (clusterServers(url, cluster).shards[0]?.urls ?? []);
      return new ClusterServer(server, async () => true).isUp();
    };
    expect(await isUp(env())).toBe(true);
    expect(await isUp({ CLICKHOUSE_URL: env()["CLICKHOUSE_URL"] ?? "" })).toBe(false);
  });
});

/** The engine of the package has no listener with TLS: this one takes its place, and the bytes pass to the engine as they are. */
async function openSecurePort(url: string, authority: Authority): Promise<AsyncDisposable & { url: string }> {
  const { cert, key } = authority.issue("server", "IP:127.0.0.1");
  const files = { cert: readFileSync(cert), key: readFileSync(key), ca: readFileSync(authority.ca) };
  const { port } = new URL(url);
  const open = new Set<Socket>();
  const server = createServer({ ...files, requestCert: true, rejectUnauthorized: true }, (client) => {
    const engine = connect(Number(port), "127.0.0.1");
    for (const socket of [client, engine]) {
      open.add(socket);
      socket.on("error", () => undefined);
      socket.on("close", () => {
        client.destroy();
        engine.destroy();
        open.delete(socket);
      });
    }
    client.pipe(engine).pipe(client);
  });
  server.on("tlsClientError", () => undefined);
  await once(server.listen(0, "127.0.0.1"), "listening");
  return {
    url: `https://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async [Symbol.asyncDispose]() {
      for (const socket of open) socket.destroy();
      await new Promise((closed) => server.close(closed));
    },
  };
}

function withCredentials(url: string, { username, password }: EmbeddedClickHouse): string {
  const whole = new URL(url);
  Object.assign(whole, { username, password, pathname: "/own" });
  return whole.href;
}
