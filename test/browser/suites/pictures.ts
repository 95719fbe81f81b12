import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { ORGANIZATION, type DashboardWorld } from "../../support/dashboard/dashboard-world.js";
import { PICTURE_LABELS, labelsOf } from "../../support/dashboard/picture-labels.js";

export function pictureSuite(world: () => DashboardWorld): void {
  describe("the pictures of the README", () => {
    test("have the labels of the page: take them again with npm run pictures", async () => {
      await using window = await world().windowOf("ada");
      await window.page.goto(world().at(`/o/${ORGANIZATION}/packages/acme%2Fweb`));
      expect(await labelsOf(window.page)).toEqual(JSON.parse(readFileSync(PICTURE_LABELS, "utf8")));
    });
  });
}
