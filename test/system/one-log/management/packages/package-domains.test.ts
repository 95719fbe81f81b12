import { beforeEach, describe, expect, test } from "vitest";
import { idOf, UUID } from "../../../../support/api/management-world.js";
import {
  as,
  faultsOf,
  makeOwnPackage,
  makePackage,
  refused,
  useWorld,
} from "../../../../support/api/use-world.js";

let id: string;

useWorld();

beforeEach(async () => {
  id = await makePackage({ name: "team/files", libraryType: "file" });
});

let count = 0;
const freshName = () => `files${count++}.acme.example`;

describe("domains", () => {
  test.each(["file", "pypi"])(
    "are made for a %s package, listed in that order, and removed",
    async (libraryType) => {
      const path = `/v1/packages/${await makePackage({ name: "served", libraryType })}/domains`;
      const [one, two] = [freshName(), freshName()];
      const first = await as("admin", `POST ${path}`, { name: one.toUpperCase() });
      expect(first).toMatchObject({
        status: 201,
        body: { name: one, id: expect.stringMatching(UUID) as string },
      });
      expect(first.headers.get("location")).toBeNull();
      const second = await as("admin", `POST ${path}`, { name: two });
      expect(await as("member", `GET ${path}`)).toMatchObject({
        status: 200,
        body: [first.body, second.body],
      });
      expect(await as("admin", `DELETE ${path}/${idOf(first)}`)).toMatchObject({ status: 204, body: "" });
      expect((await as("member", `GET ${path}`)).body).toEqual([second.body]);
      for (const gone of [idOf(first), "nothing", id])
        expect(await as("admin", `DELETE ${path}/${gone}`)).toMatchObject(refused(404, "not-found"));
      expect((await as("admin", `POST ${path}`, { name: one })).status).toBe(201);
    },
  );

  test("are for file and Python packages only", async () => {
    const npm = await makePackage({ name: "lib", libraryType: "npm" });
    const path = `/v1/packages/${npm}/domains`;
    const answers = [
      await as("admin", `GET ${path}`),
      await as("admin", `POST ${path}`, { name: freshName() }),
      await as("admin", `DELETE ${path}/${id}`),
    ];
    for (const answer of answers) {
      expect(answer).toMatchObject(refused(422, "not-a-file-package"));
      expect((answer.body as { message: string }).message).toMatch(/file and Python packages.*npm/);
    }
  });

  test("are kept as a Host header has them", async () => {
    const answer = await as("admin", `POST /v1/packages/${id}/domains`, { name: "Dateien.Bücher.example" });
    expect(answer).toMatchObject({ status: 201, body: { name: "dateien.xn--bcher-kva.example" } });
  });

  test.each([
    "",
    "localhost",
    "acme.example.",
    ".acme.example",
    "acme..example",
    "-a.example",
    "a-.example",
    "a_b.example",
    "*.acme.example",
    "acme.example:80",
    "acme.example/x",
    "https://acme.example",
    "a b.example",
    "127.0.0.1",
    "127.1",
    "0x7f.1",
    "1.2.3.256",
    "[::1]",
    "::1",
    "a%2eexample.org",
    `${"a".repeat(64)}.example`,
    `${"a.".repeat(126)}aa`,
    "\u3002",
  ])("are full host names, unlike %j", async (name) => {
    const answer = await as("admin", `POST /v1/packages/${id}/domains`, { name });
    expect(answer).toMatchObject(refused(422, "invalid-body"));
    expect((answer.body as { errors: { path: string }[] }).errors.map(({ path }) => path)).toEqual(["/name"]);
  });

  test("with faults are refused, and each is named", async () => {
    const answer = await as("admin", `POST /v1/packages/${id}/domains`, { domain: "acme.example" });
    expect(answer).toMatchObject(refused(422, "invalid-body"));
    expect(faultsOf(answer)).toEqual(["/domain", "/name"]);
  });

  test("belong to one package of the whole service, also when many ask at once, and nobody learns whose", async () => {
    const name = freshName();
    const own = await makeOwnPackage("stranger", { name: "own" });
    const callers = Array.from({ length: 12 }, (_, index) =>
      index % 2 === 0
        ? as("admin", `POST /v1/packages/${id}/domains`, { name })
        : as("stranger", `POST /v1/packages/${own}/domains`, { name: name.toUpperCase() }),
    );
    const answers = await Promise.all(callers);
    expect(answers.map(({ status }) => status).sort()).toEqual([201, ...Array<number>(11).fill(422)]);
    const failures = answers.filter(({ status }) => status === 422);
    for (const { body } of failures)
      expect(body).toEqual({
        code: "domain-is-already-in-use",
        message: `The domain ${name} is already in use.`,
      });
  });
});
