import { randomBytes } from "node:crypto";
import {
  appendFileSync,
  chownSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pino } from "pino";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import {
  type EmbeddedPostgres,
  startPostgres,
} from "../../../../deploy/stores/embedded/postgres/postgres.js";
import { expectImport } from "../../../support/imports/expect-import.js";
import { type Authority, makeAuthority } from "../../../support/networks/make-authority.js";
import { startFailing } from "../../../support/program/start-failing.js";
import { onPostgres } from "../../../support/stores/on-postgres.js";

describe("a PostgreSQL that takes TLS and certificates of an authority of one's own alone", () => {
  let dir: string;
  let postgres: EmbeddedPostgres;
  let authority: Authority;
  let env: Record<string, string>;

  beforeAll(async () => {
    dir = mkdtempSync(join(tmpdir(), "postgres-tls-"));
    authority = makeAuthority(dir, "ours");
    const folder = join(dir, "postgres");
    postgres = await startPostgres({ dir: folder, log: pino({ level: "silent" }) });
    await turnTlsOn(postgres, folder, authority);
    const url = new URL(postgres.url);
    // Its certificate is for a name, not for an address.
    url.hostname = "localhost";
    const { cert, key } = authority.issue("client", "DNS:client");
    env = {
      DATABASE_URL: url.href,
      DATABASE_TLS_CA: authority.ca,
      DATABASE_TLS_CERT: cert,
      DATABASE_TLS_KEY: key,
      SECRET_KEY: randomBytes(32).toString("base64"),
    };
  });

  afterAll(async () => {
    await postgres?.[Symbol.asyncDispose]();
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
    const said = await refusal({ DATABASE_TLS_CA: makeAuthority(dir, "theirs").ca });
    expect(said).toContain("the database of DATABASE_URL cannot be prepared: ");
    expect(said).toContain(
      "The server's certificate is not signed by a trusted authority: set DATABASE_TLS_CA to a PEM file " +
        "with the certificate of its authority",
    );
  });

  test("is refused under a name that its certificate has not", async () => {
    const other = env["DATABASE_URL"]?.replace("localhost", "127.0.0.1") ?? "";
    expect(await refusal({ DATABASE_URL: other })).toContain(
      "The server's certificate is not valid for the host name in DATABASE_URL",
    );
  });

  test("says itself that it wants a certificate", async () => {
    expect(await refusal({ DATABASE_TLS_CERT: "", DATABASE_TLS_KEY: "" })).toContain(
      "connection requires a valid client certificate",
    );
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
