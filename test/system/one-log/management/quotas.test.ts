import { describe, expect, test } from "vitest";
import { DEFAULT_QUOTAS } from "../../../../api/base/access/quotas.js";
import { serveApi, type ServedApi } from "../../../support/api/management-api.js";
import { api, as, postgres, refused, useWorld, world } from "../../../support/api/use-world.js";

useWorld();

const PACKAGE = { shortDescription: "", libraryType: "other" };

describe("a quota", () => {
  const quotas = { ...DEFAULT_QUOTAS, pixels: 2 };
  const onSmall = async (work: (small: ServedApi) => Promise<void>) => {
    await using small = await serveApi({ ...postgres, quotas });
    await work(small);
  };
  const path = () => `/v2/pixels/${world.organization}`;

  test("that is lowered takes nothing away, and one that is raised has room again", async () => {
    const made = ["a", "b", "c"].map((name) => as("admin", `POST ${path()}`, { name }));
    await Promise.all(made);
    await onSmall(async (small) => {
      const { body } = await small.call(world.tokens.admin, `GET ${path()}`);
      expect((body as { pixels: unknown[] }).pixels).toHaveLength(3);
      const answer = await small.call(world.tokens.admin, `POST ${path()}`, { name: "d" });
      expect(answer).toMatchObject(refused(422, "too-many-pixels"));
    });
    expect((await as("admin", `POST ${path()}`, { name: "d" })).status).toBe(201);
  });
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
