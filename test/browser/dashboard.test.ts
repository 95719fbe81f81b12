import { describeWithChromium } from "../support/dashboard/describe-with-chromium.js";
import { describe, expect, test } from "vitest";
import { useFilledWorld, useNewWorld } from "../support/dashboard/dashboard-world.js";
import { appearanceSuite, MOST_SEEN } from "./suites/appearance.js";
import { awaySuite } from "./suites/away.js";
import { budgetSuite } from "./suites/budgets.js";
import { filterSuite } from "./suites/filters.js";
import { firstStepsSuite } from "./suites/first-steps.js";
import { guideSuite } from "./suites/guide.js";
import { hostileSuite } from "./suites/hostile-text.js";
import { newcomerSuite } from "./suites/newcomer.js";
import { numberSuite } from "./suites/numbers.js";
import { pictureSuite } from "./suites/pictures.js";
import { reachSuite } from "./suites/reach.js";
import { sourceSuite } from "./suites/sources.js";
import { uploadSuite } from "./suites/uploads.js";
import { webhookSuite } from "./suites/webhooks.js";

/** Starting a program and a browser is dear: all suites share them, and run in this order. */
describeWithChromium("the dashboard in Chromium", (chromium) => {
  const newWorld = useNewWorld(chromium);

  newcomerSuite(newWorld);

  describe("with an organization and its events", () => {
    const world = useFilledWorld(newWorld);

    reachSuite(world);
    pictureSuite(world);
    numberSuite(world);
    filterSuite(world);
    budgetSuite(world);
    guideSuite(world);
    appearanceSuite(world, MOST_SEEN);
    firstStepsSuite(world);
    hostileSuite(world);
    sourceSuite(world);
    uploadSuite(world);
    webhookSuite(world);
    awaySuite(world);
  });

  test("no page violated its policy, asked another host, or failed in its script", () => {
    expect(newWorld().browser.faults).toEqual([]);
  });
});
