import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { parseApiTokenCreate } from "../../../../schemas/contracts/user.js";
import { isTime } from "../../../../schemas/formats.js";
import { Problem } from "../../../../schemas/problem.js";
import { testTable } from "../../../support/test-table.js";

function faultsOf(body: unknown): string[] {
  try {
    parseApiTokenCreate(body);
    return [];
  } catch (error) {
    expect(error).toBeInstanceOf(Problem);
    return (error as Problem).errors?.map(({ path, message }) => `${path} ${message}`) ?? [];
  }
}

const SOUND = { name: "ci", scopes: ["import"] };

describe("a token to be made", () => {
  test.each([
    ["with what is needed", SOUND],
    ["with everything", { ...SOUND, owner: "acme", expiresAt: "9999-12-31T23:59:59.123456+02:00" }],
    ["with nulls for what it leaves out", { ...SOUND, owner: null, expiresAt: null }],
    ["with all scopes", { ...SOUND, scopes: ["read", "import", "export", "manage"] }],
  ])("%s is taken as it is", (_, body) => {
    expect(parseApiTokenCreate(body)).toEqual(body);
  });

  testTable("%j is refused for every fault", faultsOf, [
    [{}, ["/name is required", "/scopes is required"]],
    [{ ...SOUND, scopes: [] }, ["/scopes must not be empty"]],
    [{ ...SOUND, scopes: ["read", "read"] }, ["/scopes must not contain duplicates"]],
    [{ ...SOUND, scopes: ["account"] }, ["/scopes/0 must be one of read, import, export, manage"]],
    [{ ...SOUND, name: "" }, ["/name must not be empty"]],
    [{ ...SOUND, expiresAt: "1999-01-01T00:00:00Z" }, ["/expiresAt must be in the future"]],
    [
      { ...SOUND, expiresAt: "2999-02-30T00:00:00Z", admin: true },
      [
        "/admin is not a known field",
        "/expiresAt must be an ISO 8601 time with its zone, such as 2030-01-31T12:00:00Z",
      ],
    ],
  ]);

  test("either parses or is a Problem, whatever the JSON", () => {
    const expiresAt = fc.oneof(fc.string(), fc.date({ noInvalidDate: true }).map(String), fc.jsonValue());
    const scopes = fc.array(fc.constantFrom("read", "import", "write", null));
    const near = fc.record({ name: fc.string(), scopes, expiresAt }, { requiredKeys: [] });
    fc.assert(
      fc.property(fc.oneof(near, fc.jsonValue()), (body) => {
        faultsOf(body);
      }),
    );
  });
});

testTable("%j is a moment: %s", isTime, [
  ["2030-01-31T12:00:00Z", true],
  ["2030-01-31T12:00Z", true],
  ["2030-01-31T12:00:00.123456789-11:30", true],
  ["2028-02-29T00:00:00Z", true],
  ["2030-02-29T00:00:00Z", false],
  ["2030-01-31T24:00:00Z", false],
  ["2030-01-31T12:00:60Z", false],
  ["2030-01-31T12:00:00", false],
  ["2030-01-31", false],
  ["2030-01-31 12:00:00Z", false],
  ["2030-01-31T12:00:00Z\n", false],
  ["1893456000", false],
]);
