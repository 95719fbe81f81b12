import { describe, expect, test } from "vitest";
import { access, accessWithin, lacks, reaches, type Caller } from "../../../../../api/base/access/access.js";
import { ACTIONS, type Action, changesCollected } from "../../../../../api/base/access/resources.js";
import { SCOPES } from "../../../../../schemas/contracts/user.js";
import { CALLERS, tabledDecision, tabledScope } from "../../../../support/api/access-table.js";
import { DEFAULT_QUOTAS, parseQuotas, requireRoom } from "../../../../../api/base/access/quotas.js";

const ALL_ACTIONS = Object.keys(ACTIONS) as Action[];
const CELLS = ALL_ACTIONS.flatMap((action) =>
  CALLERS.map((each) => ({ action, ...each, decision: tabledDecision(action, each) })),
);

describe("access", () => {
  test.each(CELLS)("$action is $decision to $who", ({ action, ownerKind, caller, decision }) => {
    expect(access(caller, action, { ownerKind })).toBe(decision);
  });
});

describe("a limited token", () => {
  test("is enough for assistants, whatever its scope", () => {
    const open = ALL_ACTIONS.filter((action) => tabledScope(action) === "any");
    expect(open).toEqual(["assistants.ask"]);
    for (const scope of SCOPES) expect(lacks({ scopes: [scope] }, "assistants.ask")).toBeUndefined();
  });

  test.each(ALL_ACTIONS)("may be used for %s with one scope at most", (action) => {
    const needed = tabledScope(action);
    if (needed === "any") return;
    const lacking = SCOPES.map((scope) => lacks({ scopes: [scope] }, action));
    expect(lacking).toEqual(SCOPES.map((scope) => (scope === needed ? undefined : (needed ?? "account"))));
    expect(lacks({ scopes: SCOPES }, action)).toBe(needed === undefined ? "account" : undefined);
    expect(lacks(undefined, action)).toBeUndefined();
  });

  test("is not enough to make what belongs to no owner yet, where it is of one owner", () => {
    const limits = { scopes: SCOPES, ownerId: "acme" };
    const lacking = ALL_ACTIONS.filter((action) => lacks(limits, action) === "any-owner");
    expect(lacking).toEqual(["organization.create"]);
  });
});

describe("a token of one owner", () => {
  const OWNER: Caller = { standing: "owner" };
  const MEMBER: Caller = { standing: "member" };
  const STRANGER: Caller = { standing: "none" };

  test.each([
    ["an owner", OWNER, "acme", "acme", "allowed"],
    ["an owner", OWNER, "other", "acme", "out-of-scope"],
    ["an owner", OWNER, undefined, "acme", "allowed"],
    ["a member", MEMBER, "acme", "acme", "forbidden"],
    ["a member", MEMBER, "other", "acme", "out-of-scope"],
    ["a stranger", STRANGER, "acme", "acme", "hidden"],
    ["a stranger", STRANGER, "other", "acme", "hidden"],
  ])("of %s (%j), limited to %s, on %s's things: %s", (_, caller, limitedTo, ownerId, decision) => {
    const limits = { scopes: SCOPES, ownerId: limitedTo };
    for (const action of ["packages.create", "packages.update"] as const) {
      const decided = accessWithin({ ...caller, limits }, action, { ownerKind: "organization", ownerId });
      expect(decided).toBe(decision);
    }
    expect(reaches(limits, ownerId)).toBe(limitedTo !== "other");
  });

  test("is not what an account's own token is", () => {
    const target = { ownerKind: "user", ownerId: "ada" } as const;
    expect(accessWithin({ ...OWNER, limits: undefined }, "packages.create", target)).toBe("allowed");
  });
});

test("answers wait for live collection after changes of what it serves, and after nothing else", () => {
  const waiting = (Object.keys(ACTIONS) as Action[]).filter(changesCollected);
  expect(waiting).toEqual([
    "packages.create",
    "packages.update",
    "packages.delete",
    "routes.write",
    "domains.write",
    "pixels.create",
    "pixels.update",
    "pixels.delete",
  ]);
});

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
    const message =
      `acme has ${count} packages, and the limit is 2. Delete one first, or ask the operator of this ` +
      "service for a higher limit.";
    expect(() => requireRoom(quotas, "packages", { name: "acme", count })).toThrow(
      expect.objectContaining({ code: "too-many-packages", status: 422, message }),
    );
  });
});
