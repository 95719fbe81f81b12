import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { type AddressInfo, type Socket, connect } from "node:net";
import { createServer } from "node:tls";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pino } from "pino";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { parseConfig } from "../../../../deploy/config/config.js";
import { clickhouseSource, clusterServers } from "../../../../deploy/stores/clickhouse/clickhouse-source.js";
import { ClusterServer } from "../../../../deploy/stores/clickhouse/cluster/cluster-server.js";
import {
  type EmbeddedClickHouse,
  startClickHouse,
} from "../../../../deploy/stores/embedded/clickhouse/clickhouse.js";
import { expectImport } from "../../../support/imports/expect-import.js";
import { type Authority, makeAuthority } from "../../../support/networks/make-authority.js";
import { startFailing } from "../../../support/program/start-failing.js";

describe("a ClickHouse behind TLS, with certificates of an authority of one's own", () => {
  let dir: string;
  let clickhouse: EmbeddedClickHouse;
  let secure: AsyncDisposable & { url: string };
  let authority: Authority;
  let env: Record<string, string>;

  beforeAll(async () => {
    dir = mkdtempSync(join(tmpdir(), "clickhouse-tls-"));
    authority = makeAuthority(dir, "ours");
    clickhouse = await startClickHouse({ dir: join(dir, "clickhouse"), log: pino({ level: "silent" }) });
    secure = await openSecurePort(clickhouse.url, authority);
    const { cert, key } = authority.issue("client", "DNS:client");
    env = {
      CLICKHOUSE_URL: withCredentials(secure.url, clickhouse),
      CLICKHOUSE_TLS_CA: authority.ca,
      CLICKHOUSE_TLS_CERT: cert,
      CLICKHOUSE_TLS_KEY: key,
    };
  });

  afterAll(async () => {
    await secure?.[Symbol.asyncDispose]();
    await clickhouse?.[Symbol.asyncDispose]();
    rmSync(dir, { recursive: true, force: true });
  });

  /** The end of a start with other variables than those that work. */
  async function refusal(others: Record<string, string>): Promise<string> {
    const { status, said } = await startFailing({ ...env, DATA_DIR: join(dir, "data"), ...others });
    expect(status).toBe(1);
    return said.join("\n");
  }

  test("is one that the whole program imports on", () => expectImport(env));

  test("is refused with another authority, in a sentence that says what to set", async () => {
    const said = await refusal({ CLICKHOUSE_TLS_CA: makeAuthority(dir, "theirs").ca });
    expect(said).toContain("the database of CLICKHOUSE_URL cannot be prepared: ");
    expect(said).toContain(
      "The server's certificate is not signed by a trusted authority: set CLICKHOUSE_TLS_CA to a PEM " +
        "file with the certificate of its authority",
    );
  });

  test("is refused under a name that its certificate has not", async () => {
    const other = env["CLICKHOUSE_URL"]?.replace("127.0.0.1", "localhost") ?? "";
    expect(await refusal({ CLICKHOUSE_URL: other })).toContain(
      "The server's certificate is not valid for the host name in CLICKHOUSE_URL or CLICKHOUSE_SHARDS",
    );
  });

  test("wants a certificate, and the start without one says which variables give it", async () => {
    expect(await refusal({ CLICKHOUSE_TLS_CERT: "", CLICKHOUSE_TLS_KEY: "" })).toContain(
      "The server requires a client certificate that it trusts: set CLICKHOUSE_TLS_CERT and CLICKHOUSE_TLS_KEY",
    );
  });

  test("counts as up among the servers of a cluster with its certificates alone", async () => {
    const shards = { CLICKHOUSE_SHARDS: `a: ${secure.url}` };
    const isUp = (variables: Record<string, string>) => {
      const { url, cluster } = clickhouseSource(parseConfig({ ...variables, ...shards }));
      const [server = ""] = cluster === undefined ? [] : (clusterServers(url, cluster).shards[0]?.urls ?? []);
      return new ClusterServer(server, async () => true).isUp();
    };
    expect(await isUp(env)).toBe(true);
    expect(await isUp({ CLICKHOUSE_URL: env["CLICKHOUSE_URL"] ?? "" })).toBe(false);
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
