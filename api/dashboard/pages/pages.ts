import type { Page } from "../page.js";
import { homePage } from "./overview/home-page.js";

/** Every page of the dashboard. If two paths match, the one listed first answers. */
export const PAGES: readonly Page[] = [homePage];
