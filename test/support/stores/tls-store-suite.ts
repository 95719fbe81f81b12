import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { expectImport } from "../imports/expect-import.js";
import { type Authority, makeAuthority } from "../networks/make-authority.js";
import { startFailing } from "../program/start-failing.js";
import { useFolder } from "../use-folder.js";

type Variables = Record<string, string>;

interface TlsStore extends AsyncDisposable {
  /** The variables that name it, without those of TLS. */
  env: Variables;
}

interface Tested {
  /** Of its variables. */
  prefix: "CLICKHOUSE" | "DATABASE";
  /** Opens a store that only takes clients with certificates of the authority. */
  open: (dir: string, authority: Authority) => Promise<TlsStore>;
}

/** What holds for every store behind TLS, and functions for the tests of one of them. */
export function tlsStoreSuite({ prefix, open }: Tested) {
  const dir = useFolder(`${prefix.toLowerCase()}-tls`);
  const authority = makeAuthority(dir, "ours");
  const client = authority.issue("client", "DNS:client");
  let store: TlsStore | undefined;

  beforeAll(async () => void (store = await open(dir, authority)));
  afterAll(() => store?.[Symbol.asyncDispose]());

  const variable = `${prefix}_TLS`;
  /** Without a client certificate. */
  const authorityAlone: Variables = { [variable]: `ca=${authority.ca}` };
  const env = (): Variables => ({
    ...store?.env,
    [variable]: `ca=${authority.ca},cert=${client.cert},key=${client.key}`,
  });

  /** The end of a start with other variables than those that work. */
  async function refusal(others: Variables): Promise<string> {
    const { status, said } = await startFailing({ ...env(), DATA_DIR: join(dir, "data"), ...others });
    expect(status).toBe(1);
    return said.join("\n");
  }

  test("is one that the whole program imports on", () => expectImport(env()));

  test("is refused with another authority, in a sentence that says what to set", async () => {
    const said = await refusal({ [variable]: `ca=${makeAuthority(dir, "theirs").ca}` });
    expect(said).toContain(`the database of ${prefix}_URL cannot be prepared: `);
    expect(said).toContain(
      `The server's certificate is not signed by a trusted authority: set ca in ${variable} to a PEM file with the ` +
        "certificate of its authority",
    );
  });

  return { env, authorityAlone, refusal };
}
