import type { Page } from "../web/page.js";
import { guidePage } from "./guide/guide-page.js";
import { companiesPage } from "./companies/companies-page.js";
import { companyPage } from "./companies/company-page.js";
import { newPage } from "./first-steps/new-page.js";
import { importPage } from "./imports/import-page.js";
import { importsPage } from "./imports/imports-page.js";
import { uploadPage } from "./imports/upload-page.js";
import { livePage } from "./live-page.js";
import { homePage, overviewPage, ownerListPage } from "./overview/overview-page.js";
import { packageListPage, packagePage } from "./package/package-page.js";
import { pixelListPage, pixelPage } from "./package/pixel-page.js";
import { searchPage } from "./search-page.js";
import { auditPage } from "./settings/audit-page.js";
import { membersPage } from "./settings/members-page.js";
import { notificationsPage } from "./settings/notifications-page.js";
import { organizationPage, packagesPage } from "./settings/organization-page.js";
import { packageSettingsPage } from "./settings/package-settings-page.js";
import { annotationsPage } from "./settings/annotations-page.js";
import { sourcesPage } from "./settings/sources-page.js";
import { webhookPage } from "./webhooks/webhook-page.js";
import { webhooksPage } from "./webhooks/webhooks-page.js";
import { Passwords } from "../base/identity/passwords.js";
import { SignInLimits } from "../base/identity/failure-limits.js";
import { accountPage } from "./account/account-page.js";
import { linkPage } from "./sign-in/link-page.js";
import { openIdPages } from "./sign-in/openid-pages.js";
import type { SignInPagesDeps } from "./sign-in/sign-in-deps.js";
import { signInPage, signOutPage } from "./sign-in/sign-in-page.js";

/** Every page of the dashboard. If two paths match, the one listed first answers. */
export const PAGES: readonly Page[] = [
  homePage,
  searchPage,
  guidePage,
  overviewPage,
  ownerListPage,
  livePage,
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
  annotationsPage,
  sourcesPage,
  notificationsPage,
  auditPage,
];

/** The pages of sign-in and of the account, which reach behind the API: it knows neither sessions nor passwords. */
export function accountPages(given: Omit<SignInPagesDeps, "passwords" | "limits">): Page[] {
  const deps = { ...given, passwords: new Passwords(), limits: new SignInLimits() };
  const signIn = [signInPage(deps), linkPage(deps), ...openIdPages(deps), signOutPage(deps)];
  return [...signIn, accountPage(deps)];
}
