import { useFilledWorld, useNewWorld } from "../support/dashboard/dashboard-world.js";
import { describeWithChromium } from "../support/dashboard/describe-with-chromium.js";
import { appearanceSuite, EVERY_PAGE } from "./suites/appearance.js";
import { docsAppearanceSuite, docsSuite } from "./suites/docs.js";

describeWithChromium("every page of the dashboard in Chromium", (chromium) => {
  const world = useFilledWorld(useNewWorld(chromium));

  appearanceSuite(world, EVERY_PAGE);
  docsSuite(world);
  docsAppearanceSuite(world);
});
