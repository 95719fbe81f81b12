import { expect, test } from "vitest";
import { ACTIONS, changesCollected, type Action } from "../../../../api/access/resources.js";

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
