import { describe, expect, test } from "vitest";
import {
  PERMISSION_LEVELS,
  PERMISSIONS_MAX,
  parsePackagePermissionsSet,
} from "../../../../schemas/contracts/package-access.js";
import type { Problem } from "../../../../schemas/problem.js";

function faultsOf(body: unknown): string[] {
  try {
    parsePackagePermissionsSet(body);
    return [];
  } catch (error) {
    return ((error as Problem).errors ?? []).map(({ path }) => path);
  }
}

describe("a body that sets permissions", () => {
  test.each(PERMISSION_LEVELS)("is one permission of level %s", (permissionLevel) => {
    const body = { userQuery: "ada", permissionLevel };
    expect(parsePackagePermissionsSet(body)).toEqual([{ ...body, at: "" }]);
  });

  test("is an array of them, each with its place", () => {
    const ada = { userQuery: "ada", permissionLevel: "admin" };
    const grace = { userQuery: "grace@acme.example", permissionLevel: "default" };
    expect(parsePackagePermissionsSet([ada, grace])).toEqual([
      { ...ada, at: "/0" },
      { ...grace, at: "/1" },
    ]);
    expect(parsePackagePermissionsSet([])).toEqual([]);
  });

  test("holds so many at most", () => {
    const several = Array.from({ length: PERMISSIONS_MAX }, (_, index) => ({
      userQuery: `user${index}`,
      permissionLevel: "member",
    }));
    expect(faultsOf(several)).toEqual([]);
    expect(faultsOf([...several, ...several.slice(0, 1)])).toEqual([""]);
  });

  test.each([
    [undefined, [""]],
    ["ada", [""]],
    [[[]], ["/0"]],
    [{ userQuery: "ada" }, ["/permissionLevel"]],
    [{ userQuery: "ada", permissionLevel: "owner" }, ["/permissionLevel"]],
    [{ userQuery: "ada ", permissionLevel: "admin" }, ["/userQuery"]],
    [{ userQuery: "ada", permissionLevel: "admin", at: "/7" }, ["/at"]],
    [{ userQuery: "a".repeat(255), permissionLevel: "admin" }, ["/userQuery"]],
    [
      [{ userQuery: "ada", permissionLevel: "admin" }, { userQuery: "\ud800" }],
      ["/1/permissionLevel", "/1/userQuery"],
    ],
  ])("that is %j is refused at %j", (body, paths) => {
    expect(faultsOf(body).sort()).toEqual(paths);
  });
});
