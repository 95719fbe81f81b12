import { describe, expect, test } from "vitest";
import { DEFAULT_QUOTAS } from "../../../../api/base/access/quotas.js";
import { serveApi, type ServedApi } from "../../../support/api/management-api.js";
import { api, as, makePackage, postgres, refused, useWorld, world } from "../../../support/api/use-world.js";

useWorld();

const PACKAGE = { shortDescription: "", libraryType: "other" };

describe("a quota", () => {
  const quotas = { ...DEFAULT_QUOTAS, packages: 2, pixels: 2, organizations: 2, domains: 2 };
  const onSmall = async (work: (small: ServedApi) => Promise<void>) => {
    await using small = await serveApi({ ...postgres, quotas });
    await work(small);
  };
  const bodies = {
    packages: (name: string) => ({ name, ...PACKAGE }),
    pixels: (name: string) => ({ name }),
    organizations: (name: string) => ({
      name: `${world.organization}-${name}`,
      description: "",
      billingEmail: "a@b.example",
    }),
    domains: (name: string) => ({ name: `${name}.${world.organization.toLowerCase()}.example` }),
  };

  async function pathOf(quota: keyof typeof bodies): Promise<string> {
    if (quota === "packages") return `/v1/organizations/${world.organization}/packages`;
    if (quota === "pixels") return `/v2/pixels/${world.organization}`;
    if (quota === "organizations") return "/v1/organizations";
    return `/v1/packages/${await makePackage(bodies.packages("with-domains"))}/domains`;
  }

  test.each(["packages", "pixels", "organizations", "domains"] as const)(
    "of %s is kept when many are made at once, and says so",
    async (quota) => {
      const path = await pathOf(quota);
      const token = await freshAdmin();
      await onSmall(async (small) => {
        const sent = ["a", "b", "c", "d"].map((name) =>
          small.call(token, `POST ${path}`, bodies[quota](name)),
        );
        const answers = await Promise.all(sent);
        const refused = answers.filter(({ status }) => status !== 201);
        expect(refused).toHaveLength(2);
        const message = expect.stringMatching(`has 2 ${quota}, and the limit is 2`) as string;
        for (const { status, body } of refused)
          expect([status, body]).toEqual([422, { code: `too-many-${quota}`, message }]);
      });
    },
  );

  test("that is lowered takes nothing away, and one that is raised has room again", async () => {
    const path = await pathOf("pixels");
    const made = ["a", "b", "c"].map((name) => as("admin", `POST ${path}`, bodies.pixels(name)));
    await Promise.all(made);
    await onSmall(async (small) => {
      const { body } = await small.call(world.tokens.admin, `GET ${path}`);
      expect((body as { pixels: unknown[] }).pixels).toHaveLength(3);
      const answer = await small.call(world.tokens.admin, `POST ${path}`, bodies.pixels("d"));
      expect(answer).toMatchObject(refused(422, "too-many-pixels"));
    });
    expect((await as("admin", `POST ${path}`, bodies.pixels("d"))).status).toBe(201);
  });

  /** An admin of the organization who has made nothing yet. */
  async function freshAdmin(): Promise<string> {
    const username = `fresh-${Math.random().toString(36).slice(2)}`;
    const token = await api.account(username);
    const path = `POST /v1/organizations/${world.organization}/users`;
    await as("owner", path, { username, role: "admin" });
    return token;
  }
});

describe("a list of packages", () => {
  const path = () => `/v1/organizations/${world.organization}/packages`;
  const longDescription = "long ".repeat(10_000);

  async function fill(count: number): Promise<string[]> {
    const names = Array.from({ length: count }, (_, index) => `p${String(index).padStart(3, "0")}`);
    for (const name of names) await as("admin", `POST ${path()}`, { name, ...PACKAGE, longDescription });
    return names;
  }

  test("is complete and in order however long it is, page by page as well", async () => {
    const names = await fill(45);
    const whole = await as("member", `GET ${path()}`);
    const packages = whole.body as { name: string; longDescription: string }[];
    expect(packages.map(({ name }) => name)).toEqual(names);
    expect(packages.every((each) => each.longDescription === longDescription)).toBe(true);
    expect(whole.headers.get("link")).toBeNull();
    const paged: string[] = [];
    let next: string | undefined = `${path()}?limit=20&short=true`;
    while (next !== undefined) {
      const page = await as("member", `GET ${next}`);
      const entries = page.body as { name: string; longDescription?: string }[];
      expect(entries.every((each) => each.longDescription === undefined)).toBe(true);
      paged.push(...entries.map(({ name }) => name));
      next = /^<(.*)>; rel="next"$/.exec(page.headers.get("link") ?? "")?.[1]?.replace(api.url, "");
    }
    expect(paged).toEqual(names);
  });

  test("has another tag once a package in it was changed, and is not sent again before", async () => {
    const [name = ""] = await fill(8);
    const read = (etag: string) =>
      fetch(`${api.url}${path()}`, {
        headers: {
          authorization: `Bearer ${world.tokens.member}`,
          "if-none-match": etag,
          "cache-control": "max-age=0",
        },
      });
    const first = await read("");
    await first.arrayBuffer();
    const tag = first.headers.get("etag") ?? "";
    expect(first.headers.get("content-encoding")).toBe("gzip");
    expect((await read(tag)).status).toBe(304);
    await as("admin", `PUT /v1/packages/${name}`, { name, shortDescription: "another" });
    const second = await read(tag);
    expect([second.status, second.headers.get("etag") === tag]).toEqual([200, false]);
    expect(await second.text()).toContain("another");
  });
});
