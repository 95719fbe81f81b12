import { Passwords } from "../../identity/passwords.js";
import { SignInLimits } from "../../identity/sign-in-limits.js";
import type { Page } from "../page.js";
import { accountPage } from "./account/account-page.js";
import { linkPage } from "./sign-in/link-page.js";
import { openIdPages } from "./sign-in/openid-pages.js";
import type { SignInPagesDeps } from "./sign-in/sign-in-deps.js";
import { signInPage } from "./sign-in/sign-in-page.js";
import { signOutPage } from "./sign-in/sign-out-page.js";

/** The pages of sign-in and of the account, which reach behind the API: it knows neither sessions nor passwords. */
export function accountPages(given: Omit<SignInPagesDeps, "passwords" | "limits">): Page[] {
  const deps = { ...given, passwords: new Passwords(), limits: new SignInLimits() };
  const signIn = [signInPage(deps), linkPage(deps), ...openIdPages(deps), signOutPage(deps)];
  return [...signIn, accountPage(deps)];
}
