import { randomBytes } from "node:crypto";
import { appendFileSync, chownSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { pino } from "pino";
import { describe, expect, test } from "vitest";
import {
  type EmbeddedPostgres,
  startPostgres,
} from "../../../../deploy/stores/embedded/postgres/postgres.js";
import type { Authority } from "../../../support/networks/make-authority.js";
import { onPostgres } from "../../../support/stores/on-postgres.js";
import { tlsStoreSuite } from "../../../support/stores/tls-store-suite.js";

describe("a PostgreSQL that takes TLS and certificates of an authority of one's own alone", () => {
  const { env, authorityAlone, refusal } = tlsStoreSuite({
    prefix: "DATABASE",
    async open(dir, authority) {
      const folder = join(dir, "postgres");
      const postgres = await startPostgres({ dir: folder, log: pino({ level: "silent" }) });
      await turnTlsOn(postgres, folder, authority);
      const url = new URL(postgres.url);
      // Its certificate is for a name, not for an address.
      url.hostname = "localhost";
      const SECRET_KEY = randomBytes(32).toString("base64");
      return {
        env: { DATABASE_URL: url.href, SECRET_KEY },
        [Symbol.asyncDispose]: () => postgres[Symbol.asyncDispose](),
      };
    },
  });

  test("is refused under a name that its certificate has not", async () => {
    const other = env()["DATABASE_URL"]?.replace("localhost", "127.0.0.1") ?? "";
    expect(await refusal({ DATABASE_URL: other })).toContain(
      "The server's certificate is not valid for the host name in DATABASE_URL",
    );
  });

  test("says itself that it wants a certificate", async () => {
    expect(await refusal(authorityAlone)).toContain("connection requires a valid client certificate");
  });
});

/** PostgreSQL reads these files again when asked to; they are in its folder, and its own. */
async function turnTlsOn({ url }: EmbeddedPostgres, dir: string, authority: Authority): Promise<void> {
  const data = join(dir, "data");
  const { uid, gid } = statSync(data);
  const server = authority.issue("server", "DNS:localhost");
  const put = (name: string, path: string) => {
    writeFileSync(join(data, name), readFileSync(path), { mode: 0o600 });
    chownSync(join(data, name), uid, gid);
  };
  put("server.crt", server.cert);
  put("server.key", server.key);
  put("root.crt", authority.ca);
  appendFileSync(join(data, "postgresql.conf"), "ssl = on\nssl_ca_file = 'root.crt'\n");
  const superuser = new URL(url);
  superuser.username = superuser.pathname = "postgres";
  superuser.password = readFileSync(join(dir, "superuser-password"), "utf8").trim();
  // The superuser is its operator's.
  writeFileSync(
    join(data, "pg_hba.conf"),
    "host all postgres all scram-sha-256\nhostssl all all all scram-sha-256 clientcert=verify-ca\n",
  );
  await onPostgres(superuser.href, (client) => client.query("SELECT pg_reload_conf()"));
}
