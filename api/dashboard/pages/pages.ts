import type { Page } from "../page.js";
import { companiesPage } from "./companies/companies-page.js";
import { companyPage } from "./companies/company-page.js";
import { newPage } from "./first-steps/new-page.js";
import { importPage } from "./imports/import-page.js";
import { importsPage } from "./imports/imports-page.js";
import { uploadPage } from "./imports/upload-page.js";
import { homePage } from "./overview/home-page.js";
import { overviewPage } from "./overview/overview-page.js";
import { packageListPage, packagePage } from "./package/package-page.js";
import { pixelListPage, pixelPage } from "./package/pixel-page.js";
import { auditPage } from "./settings/audit-page.js";
import { membersPage } from "./settings/members-page.js";
import { organizationPage } from "./settings/organization-page.js";
import { packageSettingsPage } from "./settings/package-settings-page.js";
import { packagesPage } from "./settings/packages-page.js";
import { webhookPage } from "./webhooks/webhook-page.js";
import { webhooksPage } from "./webhooks/webhooks-page.js";

/** Every page of the dashboard. If two paths match, the one listed first answers. */
export const PAGES: readonly Page[] = [
  homePage,
  overviewPage,
  newPage,
  packagePage,
  packageListPage,
  pixelPage,
  pixelListPage,
  companiesPage,
  companyPage,
  importsPage,
  uploadPage,
  importPage,
  webhooksPage,
  webhookPage,
  membersPage,
  organizationPage,
  packagesPage,
  packageSettingsPage,
  auditPage,
];
