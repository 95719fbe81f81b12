import { afterAll, beforeAll } from "vitest";
import {
  fillWorld,
  openNewWorld,
  type DashboardWorld,
  type NewWorld,
} from "../support/dashboard/dashboard-world.js";
import { describeWithChromium } from "../support/dashboard/describe-with-chromium.js";
import { appearanceSuite, EVERY_PAGE } from "./suites/appearance.js";
import { docsAppearanceSuite, docsSuite } from "./suites/docs.js";

describeWithChromium("every page of the dashboard in Chromium", (chromium) => {
  let opened: NewWorld | undefined;
  let filled: DashboardWorld | undefined;
  const world = () => filled as DashboardWorld;

  beforeAll(async () => {
    opened = await openNewWorld(chromium);
    filled = await fillWorld(opened);
  });
  afterAll(() => opened?.[Symbol.asyncDispose]());

  appearanceSuite(world, EVERY_PAGE);
  docsSuite(world);
  docsAppearanceSuite(world);
});
