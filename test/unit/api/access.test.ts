import { describe, expect, test } from "vitest";
import {
  access,
  ACTIONS,
  type Action,
  type Caller,
  type Decision,
  type OwnerKind,
} from "../../../api/access.js";

/** Columns of the tables below. */
const ON_OWNERS: [string, OwnerKind, Caller][] = [
  ["the user", "user", { standing: "owner" }],
  ["a stranger to the user", "user", { standing: "none" }],
  ["an owner of the organization", "organization", { standing: "owner" }],
  ["an admin of it", "organization", { standing: "admin" }],
  ["a member of it", "organization", { standing: "member" }],
  ["a stranger to it", "organization", { standing: "none" }],
];

const ON_PACKAGES: [string, OwnerKind, Caller][] = [
  ...ON_OWNERS,
  ["a stranger with level member", "organization", { standing: "none", level: "member" }],
  ["a stranger with level admin", "user", { standing: "none", level: "admin" }],
  ["a blocked stranger", "user", { standing: "none", level: "blocked" }],
  ["a member with level admin", "organization", { standing: "member", level: "admin" }],
  ["a member with level member", "organization", { standing: "member", level: "member" }],
  ["a blocked member", "organization", { standing: "member", level: "blocked" }],
  ["an admin with level member", "organization", { standing: "admin", level: "member" }],
  ["a blocked admin", "organization", { standing: "admin", level: "blocked" }],
  ["an owner with level member", "organization", { standing: "owner", level: "member" }],
  ["a blocked owner", "organization", { standing: "owner", level: "blocked" }],
];

/** One letter for each column: allowed, forbidden, hidden. */
const OWNER_TABLE: Partial<Record<Action, string>> = {
  "organization.create": "AAAAAA",
  "packages.list-own": "AAAAAA",
  "user.read": "AAAAAA",
  "user.rotate-token": "AAAAAA",
  "tokens.list": "AAAAAA",
  "tokens.create": "AAAAAA",
  "tokens.revoke": "AAAAAA",
  "organization.read": "HHAAAH",
  "organization.update": "HHAAFH",
  "members.read": "HHAAAH",
  "members.write": "HHAAFH",
  "members.leave": "HHAAAH",
  "members.write-owner": "HHAFFH",
  "packages.list": "AHAAAH",
  "packages.create": "AHAAFH",
  "pixels.read": "AHAAAH",
  "pixels.create": "AHAAFH",
  "pixels.update": "AHAAFH",
  "pixels.delete": "AHAAFH",
  "pixels.import": "AHAAFH",
  "imports.start": "AHAAFH",
  "imports.read": "AHAAFH",
  "imports.abort": "AHAAFH",
  "imports.retract": "AHAAFH",
  "audit.read": "AHAAFH",
  "webhooks.manage": "AHAAFH",
  "export.read": "AHAAFH",
};

const PACKAGE_TABLE: Partial<Record<Action, string>> = {
  "packages.read": "AHAAAHAAHAAHAHAA",
  "packages.export": "AHAAFHAAHAAHAHAA",
  "packages.update": "AHAAFHFAHAFHFHAA",
  "packages.delete": "AHAAFHFAHAFHFHAA",
  "packages.import": "AHAAFHFAHAFHFHAA",
  "permissions.read": "AHAAFHFAHAFHFHAA",
  "permissions.write": "AHAAFHFAHAFHFHAA",
  "routes.read": "AHAAAHAAHAAHAHAA",
  "routes.write": "AHAAFHFAHAFHFHAA",
  "domains.read": "AHAAAHAAHAAHAHAA",
  "domains.write": "AHAAFHFAHAFHFHAA",
};

const DECISIONS: Record<string, Decision> = { A: "allowed", F: "forbidden", H: "hidden" };

function cases(table: Partial<Record<Action, string>>, columns: [string, OwnerKind, Caller][]) {
  return Object.entries(table).flatMap(([action, letters]) =>
    columns.map(([who, ownerKind, caller], column) => ({
      action: action as Action,
      who,
      ownerKind,
      caller,
      decision: DECISIONS[letters[column] ?? ""],
    })),
  );
}

describe("access", () => {
  test("is decided here for every action there is", () => {
    const tabled = [...Object.keys(OWNER_TABLE), ...Object.keys(PACKAGE_TABLE)];
    expect(tabled.sort()).toEqual(Object.keys(ACTIONS).sort());
  });

  test.each(cases(OWNER_TABLE, ON_OWNERS))(
    "$action is $decision to $who",
    ({ action, ownerKind, caller, decision }) => {
      expect(access(caller, action, { ownerKind })).toBe(decision);
    },
  );

  test.each(cases(PACKAGE_TABLE, ON_PACKAGES))(
    "$action is $decision to $who",
    ({ action, ownerKind, caller, decision }) => {
      expect(access(caller, action, { ownerKind })).toBe(decision);
    },
  );
});
