import { beforeEach, describe, expect, test } from "vitest";
import { idOf } from "../../../../support/api/management-world.js";
import {
  as,
  faultsOf,
  giveLevel,
  makePackage,
  postgres,
  refused,
  useWorld,
  world,
} from "../../../../support/api/use-world.js";

useWorld();

beforeEach(async () => {
  // Hosts are one owner's.
  docker.publicUrl = `https://${world.organization.toLowerCase()}.example/team/x`;
});

const docker = {
  name: "team/x",
  shortDescription: "An image",
  longDescription: "Long",
  website: "x.example",
  libraryType: "docker",
  backendUrl: "https://registry.example/team/x",
  publicUrl: "https://x.example/team/x",
};
const plain = { name: "tool", shortDescription: "A tool" };

const make = (body: object = docker) => makePackage(body);

describe("changing a package", () => {
  test("frees the old name at once, and takes none that is taken", async () => {
    const id = await make({ ...plain, name: "one" });
    await make({ ...plain, name: "two" });
    expect(await as("admin", `PUT /v1/packages/${id}`, { ...plain, name: "two" })).toMatchObject(
      refused(409, "already-exists"),
    );
    expect((await as("admin", `PUT /v1/packages/${id}`, { ...plain, name: "three" })).status).toBe(200);
    expect((await as("admin", "GET /v1/packages/one")).status).toBe(404);
    expect(await make({ ...plain, name: "one" })).not.toBe("");
  });

  test("keeps the type, whether the body says it or not", async () => {
    const file = await make({ ...plain, libraryType: "file" });
    for (const libraryType of [undefined, null, "other", "file"]) {
      const answer = await as("admin", `PUT /v1/packages/${file}`, { ...plain, libraryType });
      expect(answer).toMatchObject({ status: 200, body: { libraryType: "other" } });
    }
    const answer = await as("admin", `PUT /v1/packages/${file}`, { ...docker, name: "tool" });
    expect(answer).toMatchObject({
      ...refused(422, "library-type-is-immutable"),
      body: {
        errors: [
          { path: "/libraryType", message: "must be other or omitted" },
          { path: "/backendUrl", message: "applies to docker packages only, not to other packages" },
          { path: "/publicUrl", message: "applies to docker packages only, not to other packages" },
        ],
      },
    });
    const faulty = await as("admin", `PUT /v1/packages/${file}`, { name: "", libraryType: "npm", x: 1 });
    expect(faulty).toMatchObject(refused(422, "library-type-is-immutable"));
    expect(faultsOf(faulty)).toEqual(["/libraryType", "/name", "/shortDescription", "/x"]);
    expect(await as("admin", `PUT /v1/packages/${file}`, { ...plain, libraryType: "deb" })).toMatchObject(
      refused(422, "invalid-body"),
    );
  });

  test("holds the package to the rules of its type", async () => {
    const image = await make();
    const wrong = {
      name: "",
      shortDescription: "",
      publicUrl: "nowhere",
      repositoryURL: "https://pypi.org/",
      x: 1,
    };
    const answer = await as("admin", `PUT /v1/packages/${image}`, wrong);
    expect(answer).toMatchObject(refused(422, "invalid-body"));
    expect(faultsOf(answer)).toEqual(["/backendUrl", "/name", "/publicUrl", "/repositoryURL", "/x"]);
    const python = await make({ ...plain, libraryType: "pypi" });
    const body = { ...plain, repositoryURL: "https://pypi.org/simple" };
    expect((await as("admin", `PUT /v1/packages/${python}`, body)).status).toBe(200);
    const { rows } = await postgres.pg.query("select repository_url from packages where id = $1", [python]);
    expect(rows).toEqual([{ repository_url: "https://pypi.org/simple/" }]);
  });

  test("finds it by its percent-encoded name, which packageType narrows", async () => {
    await make();
    await make({ ...plain, name: docker.name });
    const path = "/v1/packages/team%2Fx";
    const body = { ...docker, shortDescription: "New" };
    expect(await as("admin", `PUT ${path}`, body)).toMatchObject(refused(409, "ambiguous-name"));
    expect(await as("admin", `PUT ${path}?packageType=deb`, body)).toMatchObject(
      refused(400, "invalid-query"),
    );
    expect(await as("admin", `PUT ${path}?packageType=npm`, body)).toMatchObject(refused(404, "not-found"));
    expect(await as("admin", `PUT ${path}?packageType=docker`, body)).toMatchObject({
      status: 200,
      body: { shortDescription: "New", libraryType: "docker" },
    });
    expect((await as("admin", `DELETE ${path}?packageType=file`)).status).toBe(204);
    expect((await as("admin", `DELETE ${path}`)).status).toBe(204);
    expect(await as("admin", `DELETE ${path}`)).toMatchObject(refused(404, "not-found"));
  });
});

describe("deleting a package", () => {
  test("takes its routes, domains and permissions along, and leaves its pixels without it", async () => {
    const id = await make(plain);
    const path = `/v1/packages/${id}`;
    await as("admin", `POST ${path}/routes`, { templatePath: "/a", outgoingUrl: "" });
    await as("admin", `POST ${path}/domains`, { name: `files.${id}.example` });
    await giveLevel("stranger", id, "member");
    const pixel = await as("admin", `POST /v2/pixels/${world.organization}`, {
      name: "docs",
      package_id: id,
    });
    expect(await as("admin", `DELETE ${path}`)).toMatchObject({ status: 204, body: "" });
    expect(await as("owner", `GET ${path}`)).toMatchObject(refused(404, "not-found"));
    for (const table of ["package_routes", "package_domains", "package_permissions"]) {
      const { rows } = await postgres.pg.query(`select from ${table} where package_id = $1`, [id]);
      expect(rows).toHaveLength(0);
    }
    const left = await as("member", `GET /v2/pixels/${world.organization}/${idOf(pixel)}`);
    expect(left.status).toBe(200);
    expect(left.body).not.toHaveProperty("package_id");
    const { rows } = await postgres.pg.query("select erased_at from deleted_artifacts where id = $1", [id]);
    expect(rows).toEqual([{ erased_at: null }]);
  });
});

describe("many callers at once", () => {
  test("make one package of a name and type, and the others are told that it exists", async () => {
    const path = `/v1/organizations/${world.organization}/packages`;
    const callers = Array.from({ length: 12 }, () => as("admin", `POST ${path}`, plain));
    const statuses = (await Promise.all(callers)).map(({ status }) => status).sort();
    expect(statuses).toEqual([201, ...Array<number>(11).fill(409)]);
  });

  test("rename, change and delete packages, and each gets an answer that fits an order of them", async () => {
    const ids = await Promise.all(["a", "b", "c"].map((name) => make({ ...plain, name })));
    const calls = ids.flatMap((id) => [
      as("admin", `PUT /v1/packages/${id}`, { ...plain, name: "same" }),
      as("owner", `PUT /v1/packages/${id}`, { ...plain, name: id }),
      as("owner", `POST /v1/packages/${id}/routes`, { templatePath: "/{x}", outgoingUrl: "" }),
      as("admin", `DELETE /v1/packages/${id}`),
      as("admin", `DELETE /v1/packages/${id}`),
      as("admin", `PUT /v1/organizations/${world.organization}`, {
        name: world.organization,
        description: id,
        billingEmail: "pay@acme.example",
      }),
    ]);
    const statuses = (await Promise.all(calls)).map(({ status }) => status);
    expect(new Set(statuses)).toEqual(
      new Set([...new Set(statuses)].filter((one) => [200, 201, 204, 404, 409].includes(one))),
    );
    expect(statuses.filter((status) => status === 204)).toHaveLength(3);
  });
});
