import { randomUUID } from "node:crypto";
import { pino } from "pino";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { createHostChecks, lookAtHosts } from "../../../../../api/features/packages/hosts/host-checks.js";
import { type MirroredSites, mirrorSites } from "../../../../../deploy/roles/mirror-sites.js";
import { resolveTxtAt } from "../../../../../deploy/roles/role-parts.js";
import { putAccount, putOwner } from "../../../../support/notifications/put-notifications.js";
import { type TestDns, openTestDns } from "../../../../support/networks/dns-server.js";
import { serveApi } from "../../../../support/api/management-api.js";
import { idOf, auditOf, type Who } from "../../../../support/api/management-world.js";
import {
  as,
  makeOwnPackage,
  makePackage,
  postgres,
  refused,
  useWorld,
  world,
} from "../../../../support/api/use-world.js";

let dns: TestDns;
let mirror: MirroredSites;
let id: string;
let host: string;
let count = 0;

useWorld(async () => {
  dns = await openTestDns();
  return { hosts: createHostChecks(resolveTxtAt([dns.address])) };
});

beforeAll(async () => {
  const log = pino({ level: "silent" });
  mirror = await mirrorSites({ pg: postgres.pg, url: postgres.url, log, verifiedHostsOnly: true });
});

afterAll(async () => {
  await mirror?.[Symbol.asyncDispose]();
  await dns?.[Symbol.asyncDispose]();
});

beforeEach(async () => {
  host = `verified${count++}.acme.example`;
  id = await makePackage({ name: "files", libraryType: "file" });
  dns.isBroken = false;
});

const at = () => `/v1/packages/${id}/domains`;

interface Described {
  id: string;
  name: string;
  verified: boolean;
  verification: { type: string; name: string; value: string };
}

const addDomain = async () => (await as("admin", `POST ${at()}`, { name: host })).body as Described;
const verify = (domain: Described, who: Who = "admin") => as(who, `POST ${at()}/${domain.id}/verify`);

describe("a domain", () => {
  test("says what to set, and is served once that is set and looked for", async () => {
    const made = await addDomain();
    expect(made).toMatchObject({
      name: host,
      verified: false,
      verification: { type: "TXT", name: `_maintainer-toolchain.${host}` },
    });
    const { verification } = made;
    expect(verification.value).toMatch(/^[0-9a-f]{64}$/);
    dns.records.set(verification.name, ["v=spf1 -all", "0".repeat(64)]);
    expect((await verify(made)).body).toMatchObject({ verified: false });
    expect(mirror.sites.of(host)).toBeUndefined();
    dns.records.set(verification.name, ["v=spf1 -all", verification.value]);
    expect((await verify(made)).body).toMatchObject({ id: made.id, verified: true });
    await expect.poll(() => mirror.sites.of(host)?.kind).toBe("file");
    expect((await as("member", `GET ${at()}`)).body).toEqual([{ ...made, verified: true }]);
    const entries = await auditOf(postgres.pg, { owner: world.organization, kind: "domain" });
    expect(entries.at(-1)).toMatchObject({ name: host, changes: { verified: host } });
  });

  test("stays verified for its owner alone: another's record has another value", async () => {
    const made = await addDomain();
    dns.records.set(made.verification.name, [made.verification.value]);
    await verify(made);
    await as("admin", `DELETE ${at()}/${made.id}`);
    await postgres.pg.query("delete from held_hosts where host = $1", [host]);
    const own = await makeOwnPackage("stranger", { name: "own" });
    const theirs = (await as("stranger", `POST /v1/packages/${own}/domains`, { name: host }))
      .body as Described;
    const path = `/v1/packages/${own}/domains/${theirs.id}/verify`;
    expect((await as("stranger", `POST ${path}`)).body).toMatchObject({ verified: false });
    expect(theirs.verification.value).not.toBe(made.verification.value);
  });

  test("is a 503 while the DNS gives no answer", async () => {
    const made = await addDomain();
    dns.isBroken = true;
    expect(await verify(made)).toMatchObject(refused(503, "unavailable"));
  });

  test("is looked for 30 times a minute for one owner", async () => {
    const made = await addDomain();
    const answers = [];
    for (let look = 0; look < 31; look++) answers.push((await verify(made)).status);
    expect([answers.filter((status) => status === 200).length, answers.at(-1)]).toEqual([30, 429]);
  });

  test("has no such fields where the service asks for no verification", async () => {
    await using open = await serveApi(postgres);
    const made = await open.call(world.tokens.admin, `POST ${at()}`, { name: host });
    const plain = { id: idOf(made), name: host };
    expect(made.body).toEqual(plain);
    expect((await open.call(world.tokens.admin, `GET ${at()}`)).body).toEqual([plain]);
    expect((await open.call(world.tokens.admin, `POST ${at()}/${plain.id}/verify`)).body).toEqual(plain);
  });
});

describe("the host of a public URL", () => {
  const image = () => ({
    name: "web",
    libraryType: "docker",
    backendUrl: "https://registry.example/acme/web",
    publicUrl: `https://${host}/acme/web`,
  });

  test("is served once its record is there", async () => {
    const made = await makePackage(image());
    const upstream = `/v2/packages/${world.organization}/${made}/upstream`;
    const { verification, verified } = (await as("admin", `GET ${upstream}`)).body as Described;
    expect([verified, verification.name]).toEqual([false, `_maintainer-toolchain.${host}`]);
    expect(mirror.sites.imagesOf(host)).toBeUndefined();
    dns.records.set(verification.name, [verification.value]);
    expect((await as("member", `POST ${upstream}/verify`)).status).toBe(403);
    expect((await as("admin", `POST ${upstream}/verify`)).body).toMatchObject({ verified: true });
    await expect.poll(() => mirror.sites.imagesOf(host)?.kind).toBe("docker");
  });

  test("and the domains of others are looked at without being asked to", async () => {
    await makePackage(image());
    const made = await addDomain();
    const { ownerId } = (
      await postgres.pg.query<{ ownerId: string }>(
        `select owner_id as "ownerId" from packages where id = $1`,
        [id],
      )
    ).rows[0] ?? { ownerId: "" };
    dns.records.set(made.verification.name, [made.verification.value]);
    const { signal } = new AbortController();
    const counts = await lookAtHosts(postgres.pg, { resolveTxt: resolveTxtAt([dns.address]), signal });
    expect(counts.verified).toBeGreaterThan(0);
    const verified = "select host from verified_hosts where owner_id = $1";
    expect((await postgres.pg.query(verified, [ownerId])).rows).toEqual([{ host }]);
  });

  test("are looked at in turns of accounts, whatever one of them and its organizations have", async () => {
    const { pg } = postgres;
    const putHosts = async (ownerId: string, hosts: number) => {
      const packageId = randomUUID();
      const made = `
        insert into packages (id, owner_id, name, library_type, short_description) values ($1, $2, $3, 'other', '')`;
      await pg.query(made, [packageId, ownerId, `p${packageId}`]);
      const domains = `
        insert into package_domains (id, package_id, name)
        select gen_random_uuid(), $1, 'h' || nth || '.' || $2 || '.example' from generate_series(1, $3::int) nth`;
      await pg.query(domains, [packageId, packageId, hosts]);
    };
    const account = await putAccount(pg);
    await putHosts(account, 400);
    for (let nth = 0; nth < 4; nth += 1) await putHosts(await putOwner(pg, account), 400);
    const one = await putOwner(pg);
    await putHosts(one, 1);
    const accounts = "select count(distinct owner_id)::int as owners from packages where owner_id <> $1";
    const { rows } = await pg.query<{ owners: number }>(accounts, [one]);
    const asked: string[] = [];
    const resolveTxt = async (name: string) => {
      asked.push(name);
      return [];
    };
    await lookAtHosts(pg, { resolveTxt, signal: new AbortController().signal });
    const [hostOfOne] = (
      await pg.query<{ name: string }>(
        "select d.name from package_domains d join packages p on p.id = d.package_id where p.owner_id = $1",
        [one],
      )
    ).rows;
    expect(asked).toHaveLength(500);
    expect(asked.slice(0, rows[0]?.owners)).toContain(`_maintainer-toolchain.${hostOfOne?.name}`);
  });
});
