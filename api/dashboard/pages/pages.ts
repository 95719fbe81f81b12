import type { Page } from "../page.js";
import { newPage } from "./first-steps/new-page.js";
import { homePage } from "./overview/home-page.js";
import { overviewPage } from "./overview/overview-page.js";
import { packageListPage, packagePage } from "./package/package-page.js";
import { pixelListPage, pixelPage } from "./pixel/pixel-page.js";

/** Every page of the dashboard. If two paths match, the one listed first answers. */
export const PAGES: readonly Page[] = [
  homePage,
  overviewPage,
  newPage,
  packagePage,
  packageListPage,
  pixelPage,
  pixelListPage,
];
