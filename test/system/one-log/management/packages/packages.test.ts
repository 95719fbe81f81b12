import { beforeEach, describe, expect, test } from "vitest";
import { readCollectedPackages } from "../../../../../api/features/packages/collect-sites.js";
import { assignNpmName } from "../../../../../api/features/packages/npm-names.js";
import { idOf, WHO, auditOf, type Who } from "../../../../support/api/management-world.js";
import {
  as,
  faultsOf,
  giveLevel,
  makeOwnPackage,
  postgres,
  refused,
  useWorld,
  world,
} from "../../../../support/api/use-world.js";

useWorld();

describe("packages", () => {
  describe("an organization", () => {
    test("shares its names, whatever their case, with users", async () => {
      const body = { description: "", billingEmail: "pay@acme.example" };
      const names = [world.organization.toUpperCase(), world.names.stranger.toUpperCase()];
      for (const name of names) {
        const answer = await as("owner", "POST /v1/organizations", { ...body, name });
        expect(answer).toMatchObject(refused(409, "already-exists"));
      }
    });

    test("names every fault of a body at once", async () => {
      const answer = await as("owner", "POST /v1/organizations", { name: "a b", site: 1 });
      expect(answer).toMatchObject(refused(422, "invalid-body"));
      expect(faultsOf(answer)).toEqual(["/billingEmail", "/description", "/name", "/site"]);
    });
  });

  describe("a package", () => {
    const docker = {
      name: "linuxserver/x",
      shortDescription: "An image",
      libraryType: "docker",
      backendUrl: "https://registry.example/linuxserver/x",
    };
    const create = (who: Who, body: object = docker) =>
      as(who, `POST /v1/organizations/${world.organization}/packages`, body);

    test("is made under an organization and read back by its id and by its name", async () => {
      const created = await create("admin");
      expect(created.status).toBe(201);
      const paths = [
        idOf(created),
        idOf(created).toUpperCase(),
        "linuxserver%2Fx",
        "linuxserver%2Fx?packageType=docker",
      ];
      for (const path of paths) {
        const read = await as("member", `GET /v1/packages/${path}`);
        expect(read).toMatchObject({ status: 200, body: created.body });
      }
    });

    test("has a name of its own among those of its owner and type", async () => {
      await create("admin");
      expect(await create("admin")).toMatchObject(refused(409, "already-exists"));
      expect((await create("admin", { name: docker.name, shortDescription: "" })).status).toBe(201);
      expect((await as("admin", "POST /v1/packages", docker)).status).toBe(201);
    });

    test("needs packageType when its name is shared, and the answer lists the types", async () => {
      await create("admin");
      await create("admin", { name: docker.name, shortDescription: "files", libraryType: "file" });
      const shared = await as("member", "GET /v1/packages/linuxserver%2Fx");
      expect(shared).toMatchObject(refused(409, "ambiguous-name"));
      expect((shared.body as { message: string }).message).toMatch(/docker.*other/);
      const read = await as("member", "GET /v1/packages/linuxserver%2Fx?packageType=file");
      expect(read).toMatchObject({ status: 200, body: { libraryType: "other" } });
      const npm = await as("member", "GET /v1/packages/linuxserver%2Fx?packageType=npm");
      expect(npm.status).toBe(404);
      const wrong = await as("member", "GET /v1/packages/linuxserver%2Fx?packageType=deb");
      expect(wrong).toMatchObject(refused(400, "invalid-query"));
    });

    test("is found by name among those that the caller can see only", async () => {
      await create("admin");
      const other = await as("stranger", "POST /v1/packages", docker);
      const read = await as("stranger", "GET /v1/packages/linuxserver%2Fx");
      expect(read).toMatchObject({ status: 200, body: { uuid: idOf(other) } });
    });

    test("is found by a name that is the id of a hidden one, which is answered as if it were not there", async () => {
      const id = idOf(await create("admin"));
      const namesake = { name: id, shortDescription: "" };
      const get = (who: Who) => as(who, `GET /v1/packages/${id}`);
      expect((await get("stranger")).status).toBe(404);
      const own = idOf(await as("stranger", "POST /v1/packages", namesake));
      await create("admin", namesake);
      expect(await get("stranger")).toMatchObject({ status: 200, body: { uuid: own } });
      expect(await get("member")).toMatchObject({ status: 200, body: { uuid: id } });
    });

    test("is hidden from strangers and from the blocked, but never from an owner", async () => {
      const id = idOf(await create("admin"));
      await giveLevel("admin", id, "blocked");
      await giveLevel("owner", id, "blocked");
      const statuses = async (path: string) =>
        Promise.all(WHO.map(async (who) => (await as(who, `GET ${path}`)).status));
      expect(await statuses(`/v1/packages/${id}`)).toEqual([200, 404, 200, 404]);
      expect(await statuses("/v1/packages/linuxserver%2Fx")).toEqual([200, 404, 200, 404]);
    });

    test("is listed once to everyone who has anything to do with it, by owner and then name", async () => {
      const first = idOf(await create("admin", { name: "b", shortDescription: "" }));
      const second = idOf(await create("admin", { name: "a", shortDescription: "" }));
      const own = await makeOwnPackage("member", { name: "z" });
      await giveLevel("member", first, "admin");
      await giveLevel("stranger", first, "member");
      await giveLevel("admin", second, "blocked");
      const listed = async (who: Who, path = "/v1/packages") =>
        ((await as(who, `GET ${path}`)).body as { uuid: string }[]).map(({ uuid }) => uuid);
      expect(await listed("member")).toEqual([second, first, own]);
      expect(await listed("owner")).toEqual([second, first]);
      expect(await listed("admin")).toEqual([first]);
      expect(await listed("stranger")).toEqual([first]);
      expect(await listed("admin", `/v1/organizations/${world.organization}/packages`)).toEqual([first]);
      expect(await listed("member", `/v1/organizations/${world.organization}/packages`)).toEqual([
        second,
        first,
      ]);
    });
  });
});

describe("names of npm packages", () => {
  let own: string;
  let count = 0;

  beforeEach(async () => {
    own = `name${count++}`;
  });

  /** The organization's admin, and one who has nothing to do with it. */
  type Who = "admin" | "stranger";

  function make(who: Who, body: object) {
    const owner = who === "admin" ? `/v1/organizations/${world.organization}` : "/v1";
    return as(who, `POST ${owner}/packages`, body);
  }

  describe("an npm name", () => {
    const npm = (name: string) => ({ name, shortDescription: "", libraryType: "npm" });
    const taken = refused(409, "already-exists");

    test("is the owner's who has a package of that name first, and free once they have none", async () => {
      const [name, other] = [`@acme/${own}`, `@acme/other-${own}`];
      const first = idOf(await make("admin", npm(name)));
      expect(await make("stranger", npm(name))).toMatchObject(taken);
      const moved = idOf(await make("stranger", npm(other)));
      expect(await as("stranger", `PUT /v1/packages/${moved}`, npm(name))).toMatchObject(taken);
      expect(await as("stranger", `PUT /v1/packages/${moved}`, npm(other))).toMatchObject({ status: 200 });
      // Other types have names of their own.
      expect(await make("stranger", { ...npm(name), libraryType: "other" })).toMatchObject({ status: 201 });
      await as("admin", `DELETE /v1/packages/${first}`);
      expect(await as("stranger", `PUT /v1/packages/${moved}`, npm(name))).toMatchObject({ status: 200 });
    });

    test("goes to one of many owners who ask for it at once", async () => {
      const name = `@acme/at-once-${own}`;
      const calls = Array.from({ length: 8 }, (_, at) =>
        make(at % 2 === 0 ? "admin" : "stranger", npm(name)),
      );
      expect((await Promise.all(calls)).filter(({ status }) => status === 201)).toHaveLength(1);
    });

    test("is assigned by an operator, to whom it may be, and both owners see that", async () => {
      const name = `@acme/assigned-${own}`;
      await make("admin", npm(name));
      await assignNpmName(postgres.pg, { name, owner: world.names.stranger });
      expect(await make("stranger", npm(name))).toMatchObject({ status: 201 });
      for (const owner of [world.organization, world.names.stranger]) {
        const entries = await auditOf(postgres.pg, { owner, kind: "npm-name" });
        expect(entries.map((entry) => [entry.name, entry.changes])).toEqual([
          [name, { owner: world.names.stranger }],
        ]);
      }
      const served = await readCollectedPackages(postgres.pg);
      const reporting = served.filter((each) => each.name === name).map(({ mayReport }) => mayReport);
      expect(reporting.sort()).toEqual([false, true]);
      await expect(assignNpmName(postgres.pg, { name, owner: "nobody-here" })).rejects.toThrow(
        "does not exist",
      );
    });
  });
});
