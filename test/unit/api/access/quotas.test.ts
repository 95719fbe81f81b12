import { describe, expect, test } from "vitest";
import { DEFAULT_QUOTAS, parseQuotas, requireRoom } from "../../../../api/access/quotas.js";

describe("parseQuotas", () => {
  test.each([
    ["packages=5000", { packages: 5000 }],
    [" webhooks = 0 , tokens=1 ", { webhooks: 0, tokens: 1 }],
  ])("reads %j and keeps the others", (text, set) => {
    expect(parseQuotas(text)).toEqual({ ...DEFAULT_QUOTAS, ...set });
  });

  test.each(["", "packages", "packages=", "packages=-1", "packages=1.5", "stars=5", "packages=1,,pixels=2"])(
    "refuses %j",
    (text) => {
      expect(parseQuotas(text)).toBeUndefined();
    },
  );
});

describe("requireRoom", () => {
  const quotas = { ...DEFAULT_QUOTAS, packages: 2 };

  test("allows one more below the quota", () => {
    expect(() => requireRoom(quotas, "packages", { name: "acme", count: 1 })).not.toThrow();
  });

  test.each([2, 7])("refuses one more for an owner of %d", (count) => {
    const message = `acme has ${count} packages, and 2 are allowed here; delete one first, or ask the operator of this service for more.`;
    expect(() => requireRoom(quotas, "packages", { name: "acme", count })).toThrow(
      expect.objectContaining({ code: "too-many-packages", status: 422, message }),
    );
  });
});
