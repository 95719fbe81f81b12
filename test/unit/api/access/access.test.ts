import { describe, expect, test } from "vitest";
import { access, lacks } from "../../../../api/access/access.js";
import { ACTIONS, type Action } from "../../../../api/access/resources.js";
import { SCOPES } from "../../../../schemas/contracts/api-token.js";
import { CALLERS, tabledDecision, tabledScope } from "../../../support/api/access-table.js";

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
  test.each(ALL_ACTIONS)("may be used for %s with one scope at most", (action) => {
    const sufficient = SCOPES.filter((scope) => lacks({ scopes: [scope] }, action) === undefined);
    expect(sufficient).toEqual([tabledScope(action)].filter(Boolean));
  });
});
