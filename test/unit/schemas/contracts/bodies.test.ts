import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { parseFunnelImportance } from "../../../../schemas/contracts/funnel.js";
import { parseOrganizationUpsert } from "../../../../schemas/contracts/organization.js";
import { parsePackageUpsert } from "../../../../schemas/contracts/package.js";
import { parseCreatePackageDomain } from "../../../../schemas/contracts/package-routing.js";
import { parseCreatePackageRoute } from "../../../../ingest/routing/parse-package-route.js";
import { parsePixelUpsert } from "../../../../schemas/contracts/pixel.js";
import { Problem, type FieldFault } from "../../../../schemas/problem.js";

const organization = { name: "acme", description: "Makes things", billingEmail: "pay@acme.example" };
const plain = { name: "tool", shortDescription: "A tool" };
const docker = { ...plain, libraryType: "docker", backendUrl: "https://registry.example/team/tool" };
const pypi = { ...plain, libraryType: "pypi" };

function faultsOf(parse: (body: unknown) => unknown, body: unknown): FieldFault[] {
  try {
    parse(body);
    return [];
  } catch (error) {
    expect(error).toBeInstanceOf(Problem);
    expect((error as Problem).code).toBe("invalid-body");
    return (error as Problem).errors ?? [];
  }
}

const pathsOf = (parse: (body: unknown) => unknown, body: unknown) =>
  faultsOf(parse, body)
    .map(({ path }) => path)
    .sort();

describe("every body", () => {
  test("names every fault at once, with sentences", () => {
    const body = { name: 7, website: "nowhere", "bil/ling": 1, description: "a\0b" };
    expect(faultsOf(parseOrganizationUpsert, body)).toEqual(
      expect.arrayContaining([
        { path: "/billingEmail", message: "is required" },
        { path: "/bil~1ling", message: "is not a known field" },
        { path: "/name", message: "must be text" },
        { path: "/website", message: "must be the URL of a website" },
        { path: "/description", message: "must not contain NUL characters or unpaired surrogates" },
      ]),
    );
  });

  test.each([null, 7, "text", [], [organization]])("is refused when it is %j", (body) => {
    expect(faultsOf(parseOrganizationUpsert, body)).toEqual([{ path: "", message: "must be a JSON object" }]);
  });

  test("lists no more than a hundred faults", () => {
    const many = Object.fromEntries(Array.from({ length: 5000 }, (_, field) => [`f${field}`, 1]));
    expect(faultsOf(parsePixelUpsert, many)).toHaveLength(100);
  });

  test("with very many values names its first fault, and no name at its whole length", () => {
    const items = Array.from({ length: 10_000 }, () => ({}));
    expect(faultsOf(parseFunnelImportance, { packages: items, pixels: items })).toEqual([
      { path: "/packages/0/id", message: "is required" },
    ]);
    const [{ path } = { path: "" }] = faultsOf(parsePixelUpsert, { name: "docs", ["x".repeat(10_000)]: 1 });
    expect(path).toBe(`/${"x".repeat(199)}`);
  });

  test("either parses or is a Problem, whatever the JSON", () => {
    fc.assert(
      fc.property(fc.jsonValue(), (body) => {
        faultsOf(parsePackageUpsert, body);
        faultsOf(parseOrganizationUpsert, body);
        faultsOf(parsePixelUpsert, body);
        faultsOf(parseCreatePackageRoute, body);
        faultsOf(parseCreatePackageDomain, body);
      }),
    );
  });
});

describe("an organization", () => {
  test.each([
    {},
    { website: "https://acme.example/about?x=1" },
    { website: "acme.example" },
    { website: null },
    { description: "" },
    { billingEmail: '"Acme, Billing" <billing@acme.example>' },
    { billingEmail: '"accounts payable"@acme.example' },
    { billingEmail: "büro@äcme.example" },
    { name: "A.b_c-9" },
    { name: "a".repeat(64) },
  ])("may be sent with %j", (change) => {
    expect(faultsOf(parseOrganizationUpsert, { ...organization, ...change })).toEqual([]);
  });

  test.each([
    ["/name", ""],
    ["/name", "-acme"],
    ["/name", "acme."],
    ["/name", "a/b"],
    ["/name", "acmé"],
    ["/name", "acme\n"],
    ["/name", "a".repeat(65)],
    ["/name", "Packages"],
    ["/website", "javascript:alert(1)"],
    ["/website", "ftp://acme.example"],
    ["/website", "https://user:password@acme.example"],
    ["/website", "not a site"],
    ["/billingEmail", "acme"],
    ["/billingEmail", "a@b"],
    ["/billingEmail", "a b@acme.example"],
    ["/billingEmail", "a@acme.example, b@acme.example"],
    ["/billingEmail", "a@acme.example\r\nBcc: b@acme.example"],
    ["/description", "\ud800"],
    ["/description", null],
  ])("is refused at %s for %j", (path, value) => {
    expect(pathsOf(parseOrganizationUpsert, { ...organization, [path.slice(1)]: value })).toEqual([path]);
  });
});

describe("a package", () => {
  test.each([
    [plain, "other"],
    [{ ...plain, libraryType: "file" }, "other"],
    [{ ...plain, libraryType: null }, "other"],
    [{ ...plain, libraryType: "npm", name: "@scope/tool" }, "npm"],
    [docker, "docker"],
    [pypi, "pypi"],
  ])("%j is stored as %s", (body, type) => {
    expect(parsePackageUpsert(body).libraryType).toBe(type);
  });

  test.each([
    ["https://pypi.example/simple", "https://pypi.example/simple/"],
    ["https://pypi.example/simple/", "https://pypi.example/simple/"],
    ["http://pypi.example", "http://pypi.example/"],
  ])("of Python keeps %s as %s", (repositoryURL, stored) => {
    expect(parsePackageUpsert({ ...pypi, repositoryURL }).repositoryURL).toBe(stored);
  });

  test.each([
    { backendUrl: "http://localhost:5000/a" },
    { backendUrl: "https://registry.example/a.b/c_d/e-f/9" },
    { publicUrl: "https://pull.example/team/tool" },
    { publicUrl: null },
  ])("of docker may have %j", (change) => {
    expect(faultsOf(parsePackageUpsert, { ...docker, ...change })).toEqual([]);
  });

  test.each([
    ["/backendUrl", { backendUrl: undefined }],
    ["/backendUrl", { backendUrl: "registry.example/team/tool" }],
    ["/backendUrl", { backendUrl: "ftp://registry.example/team/tool" }],
    ["/backendUrl", { backendUrl: "https://registry.example" }],
    ["/backendUrl", { backendUrl: "https://registry.example/" }],
    ["/backendUrl", { backendUrl: "https://registry.example/Team" }],
    ["/backendUrl", { backendUrl: "https://registry.example/team//tool" }],
    ["/backendUrl", { backendUrl: "https://registry.example/team/../tool" }],
    ["/backendUrl", { backendUrl: "https://registry.example/a__b" }],
    ["/backendUrl", { backendUrl: "https://registry.example/team?x=1" }],
    ["/backendUrl", { backendUrl: "https://user:pass@registry.example/team" }],
    ["/backendUrl", { backendUrl: "https://registry.example\\team" }],
    ["/publicUrl", { publicUrl: "https://pull.example/other/tool" }],
    ["/publicUrl", { publicUrl: "pull.example/team/tool" }],
    ["/repositoryURL", { repositoryURL: "https://pypi.example/simple/" }],
  ])("of docker is refused at %s for %j", (path, change) => {
    expect(pathsOf(parsePackageUpsert, { ...docker, ...change })).toEqual([path]);
  });

  test("refuses the fields of another type by name, together with all other faults", () => {
    const body = { ...pypi, name: "", backendUrl: docker.backendUrl, repositoryURL: "nowhere", tags: [] };
    expect(pathsOf(parsePackageUpsert, body)).toEqual(["/backendUrl", "/name", "/repositoryURL", "/tags"]);
  });

  test("with an unknown type is refused for that alone", () => {
    expect(faultsOf(parsePackageUpsert, { ...docker, libraryType: "cargo" })).toEqual([
      { path: "/libraryType", message: "must be one of docker, npm, hackage, pypi, other, file" },
    ]);
  });

  test.each(["", " tool", "tool ", "to\nol", "a\0", "x".repeat(257), 7])(
    "is refused with the name %j",
    (name) => {
      expect(pathsOf(parsePackageUpsert, { ...plain, name })).toEqual(["/name"]);
    },
  );
});

describe("a pixel", () => {
  test.each([
    {},
    { package_id: null },
    { package_id: "tool" },
    { package_id: "01990000-0000-7000-8000-000000000001" },
  ])("may be sent with %j", (change) => {
    expect(faultsOf(parsePixelUpsert, { name: "docs", ...change })).toEqual([]);
  });

  test.each([
    ["/name", { name: "" }],
    ["/package_id", { package_id: "" }],
    ["/id", { id: "x" }],
  ])("is refused at %s for %j", (path, change) => {
    expect(pathsOf(parsePixelUpsert, { name: "docs", ...change })).toEqual([path]);
  });
});
