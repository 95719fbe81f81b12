import { describe, expect, test } from "vitest";
import { accessWithin, lacks, reaches, type Caller } from "../../../../api/access/access.js";
import { ACTIONS, type Action } from "../../../../api/access/resources.js";
import { SCOPES, type Scope } from "../../../../schemas/contracts/user.js";

/** The actions that each scope allows; the rest is for the account's own token. */
const ACTIONS_OF: Record<Scope, Action[]> = {
  read: [
    "packages.list-own",
    "user.read",
    "organization.read",
    "members.read",
    "packages.list",
    "pixels.read",
    "packages.read",
    "permissions.read",
    "routes.read",
    "domains.read",
    "stats.read",
    "funnel.read",
  ],
  import: [
    "pixels.import",
    "imports.start",
    "imports.read",
    "imports.abort",
    "imports.retract",
    "packages.import",
  ],
  export: ["export.read", "packages.export"],
  manage: [
    "organization.create",
    "organization.update",
    "members.write",
    "members.write-owner",
    "members.leave",
    "packages.create",
    "pixels.create",
    "pixels.update",
    "pixels.delete",
    "audit.read",
    "erasures.read",
    "erasures.create",
    "webhooks.manage",
    "funnel.manage",
    "packages.update",
    "packages.delete",
    "permissions.write",
    "routes.write",
    "domains.write",
  ],
};
const ACCOUNT_ONLY: Action[] = ["user.rotate-token", "tokens.list", "tokens.create", "tokens.revoke"];

const scopeOf = (action: Action) => SCOPES.find((scope) => ACTIONS_OF[scope].includes(action)) ?? "account";
const cells = SCOPES.flatMap((held) =>
  (Object.keys(ACTIONS) as Action[]).map((action) => {
    const needed = scopeOf(action);
    return { held, action, lack: needed === held ? undefined : needed };
  }),
);

describe("a token's scopes", () => {
  test("are tabled here for every action there is", () => {
    const tabled = [...Object.values(ACTIONS_OF).flat(), ...ACCOUNT_ONLY];
    expect(tabled.sort()).toEqual(Object.keys(ACTIONS).sort());
  });

  test.each(cells)("$held alone: $action lacks $lack", ({ held, action, lack }) => {
    expect(lacks({ scopes: [held] }, action)).toBe(lack);
  });

  test.each(ACCOUNT_ONLY)("all together do not make %s possible", (action) => {
    expect(lacks({ scopes: SCOPES }, action)).toBe("account");
  });

  test("do not limit the account's own token", () => {
    const lacking = (Object.keys(ACTIONS) as Action[]).filter((action) => lacks(undefined, action));
    expect(lacking).toEqual([]);
  });

  test("are not enough to make what belongs to no owner yet, for a token of one owner", () => {
    const limits = { scopes: SCOPES, ownerId: "acme" };
    const lacking = (Object.keys(ACTIONS) as Action[]).filter(
      (action) => lacks(limits, action) === "any-owner",
    );
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
