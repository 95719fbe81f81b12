import { beforeEach, describe, expect, test } from "vitest";
import { VARIABLES_MAX } from "../../../../../schemas/contracts/package-routing.js";
import { as, faultsOf, makePackage, refused, useWorld } from "../../../../support/api/use-world.js";

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

  test(`may have ${VARIABLES_MAX} variables`, async () => {
    const path = `/v1/packages/${id}/routes`;
    const body = { templatePath: `/${namesOf(VARIABLES_MAX)}`, outgoingUrl: "" };
    expect((await as("admin", `POST ${path}`, body)).status).toBe(201);
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
