import { beforeEach, describe, expect, test } from "vitest";
import { DEFAULT_QUOTAS } from "../../../../../api/base/access/quotas.js";
import { VARIABLES_MAX } from "../../../../../schemas/contracts/package-routing.js";
import { callIfMatch, idOf, auditOf, UUID } from "../../../../support/api/management-world.js";
import {
  api,
  as,
  faultsOf,
  makePackage,
  postgres,
  refused,
  useWorld,
  world,
} from "../../../../support/api/use-world.js";

let id: string;

useWorld();

beforeEach(async () => {
  id = await makePackage({ name: "team/files", libraryType: "file" });
});

const route = {
  templatePath: "/{version}/{+file}",
  outgoingUrl: "https://dl.example/{version}/{+file}?v={version}",
};

/** Variables of a template. */
const namesOf = (count: number) => Array.from({ length: count }, (_, at) => `{v${at}}`).join("-");

describe("routes", () => {
  test("are made, listed in the order in which they were made, and removed", async () => {
    const path = `/v1/packages/${id}/routes`;
    const first = await as("admin", `POST ${path}`, route);
    expect(first).toMatchObject({
      status: 201,
      body: { ...route, id: expect.stringMatching(UUID) as string },
    });
    expect(first.headers.get("location")).toBeNull();
    const second = await as("admin", "POST /v1/packages/team%2Ffiles/routes?packageType=file", {
      templatePath: "/{+all}",
      outgoingUrl: "",
    });
    expect(second).toMatchObject({ status: 201, body: { templatePath: "/{+all}", outgoingUrl: "" } });
    expect(await as("member", `GET ${path}`)).toMatchObject({ status: 200, body: [first.body, second.body] });
    expect(await as("admin", `DELETE ${path}/${idOf(first)}`)).toMatchObject({ status: 204, body: "" });
    expect((await as("member", `GET ${path}`)).body).toEqual([second.body]);
    for (const gone of [idOf(first), "nothing", id])
      expect(await as("admin", `DELETE ${path}/${gone}`)).toMatchObject(refused(404, "not-found"));
  });

  test("cannot be removed through another package", async () => {
    const other = await makePackage({ name: "other" });
    const made = await as("admin", `POST /v1/packages/${other}/routes`, route);
    expect(await as("admin", `DELETE /v1/packages/${id}/routes/${idOf(made)}`)).toMatchObject(
      refused(404, "not-found"),
    );
  });

  test("are for file packages only", async () => {
    const npm = await makePackage({ name: "lib", libraryType: "npm" });
    const requests = ["GET", "POST", "DELETE"].map((method) => `${method} /v1/packages/${npm}/routes`);
    const answers = [
      await as("admin", requests[0] ?? ""),
      await as("admin", requests[1] ?? "", route),
      await as("admin", `${requests[2] ?? ""}/${id}`),
    ];
    for (const answer of answers) expect(answer).toMatchObject(refused(422, "not-a-file-package"));
  });

  test.each([
    [{ templatePath: "a", outgoingUrl: "" }, ["/templatePath"]],
    [{ templatePath: "/{/a}", outgoingUrl: "ftp://x.example/" }, ["/templatePath", "/outgoingUrl"]],
    [{ templatePath: "/{a}", outgoingUrl: "/relative" }, ["/outgoingUrl"]],
    [{ templatePath: "/{a}", outgoingUrl: "https://{a}/x" }, ["/outgoingUrl"]],
    [{ templatePath: "/{a}", outgoingUrl: "https://x.example{a}" }, ["/outgoingUrl"]],
    [{ templatePath: "/{a}", outgoingUrl: "https://me:pw@x.example/" }, ["/outgoingUrl"]],
    [
      { templatePath: "/{a}", outgoingUrl: "https://x.example/{a}/{b}/{c}" },
      ["/outgoingUrl", "/outgoingUrl"],
    ],
    [{ templatePath: "/{a}", outgoingUrl: "https://x.example/{?a}" }, ["/outgoingUrl"]],
    [{ templatePath: `/${namesOf(17)}`, outgoingUrl: "" }, ["/templatePath"]],
    [{ templatePath: "/{v0}", outgoingUrl: `https://x.example/${"{v0}".repeat(17)}` }, ["/outgoingUrl"]],
    [
      { templatePath: `/${"a".repeat(1024)}`, outgoingUrl: null, x: 1 },
      ["/x", "/templatePath", "/outgoingUrl"],
    ],
    [{}, ["/outgoingUrl", "/templatePath"]],
  ])("with faults are refused, and each is named: %j", async (body, paths) => {
    const answer = await as("admin", `POST /v1/packages/${id}/routes`, body);
    expect(answer).toMatchObject(refused(422, "invalid-body"));
    expect(faultsOf(answer)).toEqual([...paths].sort());
  });

  test(`may have ${VARIABLES_MAX} variables, and a package ${DEFAULT_QUOTAS.routes} of them`, async () => {
    const path = `/v1/packages/${id}/routes`;
    const body = { templatePath: `/${namesOf(VARIABLES_MAX)}`, outgoingUrl: "" };
    expect((await as("admin", `POST ${path}`, body)).status).toBe(201);
    const insert = `insert into package_routes (id, package_id, template_path, outgoing_url)
      select gen_random_uuid(), $1, '/x' || number, '' from generate_series(3, $2) as number`;
    await postgres.pg.query(insert, [id, DEFAULT_QUOTAS.routes]);
    const last = ["/a", "/b", "/c"].map((templatePath) =>
      as("admin", `POST ${path}`, { templatePath, outgoingUrl: "" }),
    );
    const answers = await Promise.all(last);
    expect(answers.map(({ status }) => status).sort()).toEqual([201, 422, 422]);
    expect(answers.find(({ status }) => status === 422)).toMatchObject(refused(422, "too-many-routes"));
  });

  test("that match exactly the same conflict, also when many are made at once", async () => {
    const path = `/v1/packages/${id}/routes`;
    const bodies = ["a", "b", "c", "d", "e", "f"].map((name) => ({
      templatePath: `/x/{${name}}`,
      outgoingUrl: "",
    }));
    const answers = await Promise.all(bodies.map((body) => as("admin", `POST ${path}`, body)));
    expect(answers.map(({ status }) => status).sort()).toEqual([201, 422, 422, 422, 422, 422]);
    const made = answers.find(({ status }) => status === 201)?.body as { id: string; templatePath: string };
    const other = await as("admin", `POST ${path}`, { templatePath: "/%78/{z}", outgoingUrl: "" });
    expect(other).toMatchObject(refused(422, "route-conflicts"));
    expect((other.body as { message: string }).message).toContain(`${made.templatePath} (${made.id})`);
    expect((await as("admin", `POST ${path}`, { templatePath: "/x/{+z}", outgoingUrl: "" })).status).toBe(
      201,
    );
    const elsewhere = await makePackage({ name: "other" });
    expect((await as("admin", `POST /v1/packages/${elsewhere}/routes`, bodies[0])).status).toBe(201);
  });
});

test("routes that are added and removed are in the audit log", async () => {
  const made = await as("admin", `POST /v1/packages/${id}/routes`, route);
  const tag = made.headers.get("etag") ?? "";
  const request = `DELETE /v1/packages/${id}/routes/${idOf(made)}`;
  const token = world.tokens.admin;
  expect(await callIfMatch(api, { token, request, ifMatch: '"other"' })).toMatchObject({ status: 412 });
  expect(await callIfMatch(api, { token, request, ifMatch: tag })).toMatchObject({ status: 204 });
  const entries = await auditOf(postgres.pg, { owner: world.organization, kind: "route" });
  expect(entries.map(({ name, changes }) => [name, changes])).toEqual([
    [route.templatePath, { package: id, ...route }],
    [route.templatePath, { package: id, templatePath: null, outgoingUrl: null }],
  ]);
});
