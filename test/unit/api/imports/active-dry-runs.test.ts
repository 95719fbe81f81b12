import { expect, test } from "vitest";
import { ActiveDryRuns } from "../../../../api/imports/dry-run.js";

const of = (index: number) => ({ ownerId: `owner ${index}`, accountId: `account ${index}` });

test("reads 15 dry runs of an owner and 100 of all at once, and more when one has ended", () => {
  const active = new ActiveDryRuns();
  const open = Array.from({ length: 100 }, (_, index) => active.open(of(Math.floor(index / 15))));
  expect(() => active.open(of(0))).toThrow("too many active imports");
  expect(() => active.open(of(100))).toThrow("Too many dry runs");
  open[0]?.[Symbol.dispose]();
  expect(() => active.open(of(0))).not.toThrow();
  expect(() => active.open(of(100))).toThrow("Too many dry runs");
});

test("reads 15 of an account, into however many organizations, and 15 of an owner, by however many accounts", () => {
  const active = new ActiveDryRuns();
  const open = Array.from({ length: 15 }, (_, index) =>
    active.open({ ownerId: `organization ${index}`, accountId: "ada" }),
  );
  expect(() => active.open({ ownerId: "another", accountId: "ada" })).toThrow("too many active imports");
  for (let index = 0; index < 15; index++) active.open({ ownerId: "acme", accountId: `member ${index}` });
  expect(() => active.open({ ownerId: "acme", accountId: "bob" })).toThrow("too many active imports");
  open[0]?.[Symbol.dispose]();
  expect(() => active.open({ ownerId: "another", accountId: "ada" })).not.toThrow();
});
