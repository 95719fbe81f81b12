import { Problem } from "../../../schemas/problem.js";
import type { OpenIdAttempt, OpenIdProvider } from "../../base/identity/openid.js";
import { readCookie, setCookie } from "../../base/http/middleware/session.js";
import { SIGN_IN_FAILED } from "../../base/identity/failure-limits.js";
import { signInByEmail } from "../../base/identity/sign-in.js";
import type { TokenCipher } from "../../base/identity/tokens.js";
import type { ApiContext } from "../../base/http/route.js";
import { type Page, page } from "../../web/page.js";
import {
  NotSignedIn,
  type SignInPagesDeps,
  attemptingOf,
  putSession,
  targetAddress,
} from "./sign-in-deps.js";

/** Begins with a link: browsers hold a form to `form-action 'self'` through its redirects. */
export function openIdPages(deps: SignInPagesDeps): Page[] {
  const { openid } = deps;
  return openid === undefined ? [] : [leavePage(deps, openid), returnPage(deps, openid)];
}

function leavePage({ tokens }: SignInPagesDeps, openid: OpenIdProvider): Page {
  return page({
    path: "/sign-in/openid",
    isOpen: true,
    async load({ ctx, query }) {
      const { url, attempt } = await openid.begin(returnAddress(ctx));
      const left = { attempt, to: query.get("to") ?? "", until: Date.now() + LEFT_SECONDS * 1000 };
      const value = tokens.seal(JSON.stringify(left), PURPOSE).toString("base64url");
      setCookie(ctx, "openid", { value, seconds: LEFT_SECONDS });
      ctx.redirect(url);
    },
    title: () => "Sign in",
    render: () => null,
  });
}

function returnPage(deps: SignInPagesDeps, openid: OpenIdProvider): Page {
  return page({
    path: "/sign-in/openid/return",
    isOpen: true,
    async load({ ctx }) {
      const left = readLeft(ctx, deps.tokens);
      setCookie(ctx, "openid", { value: "", seconds: 0 });
      const returned = new URL(`${returnAddress(ctx)}${ctx.search}`);
      const verifiedEmail = async () =>
        left && openid.verifiedEmail(returned, { attempt: left.attempt, log: ctx.state.log });
      const secret = await orUndefined(() => signInByEmail(deps, verifiedEmail, attemptingOf(ctx, deps)));
      if (secret === undefined) {
        ctx.status = 401;
        return;
      }
      await putSession(ctx, deps, secret);
      ctx.redirect(targetAddress(ctx, left?.to ?? ""));
    },
    title: () => "Sign in",
    render: () => <NotSignedIn title="Sign-in failed" sentence={SIGN_IN_FAILED.openid} />,
  });
}

/** The registered redirect URI. */
function returnAddress(ctx: ApiContext): string {
  return `${ctx.state.publicBase}/dashboard/sign-in/openid/return`;
}

/** A browser's way to the provider and back may take this long. */
const LEFT_SECONDS = 600;

/** Seals the cookie for this use alone. */
const PURPOSE = "the way to the OpenID provider";

interface Left {
  attempt: OpenIdAttempt;
  to: string;
  until: number;
}

/** Undefined if this browser did not leave for the provider lately. */
function readLeft(ctx: ApiContext, tokens: TokenCipher): Left | undefined {
  try {
    const sealed = Buffer.from(readCookie(ctx, "openid"), "base64url");
    const left = JSON.parse(tokens.open(sealed, PURPOSE)) as Left;
    return left.until > Date.now() ? left : undefined;
  } catch {
    // Not a cookie that this service made with its present key.
    return undefined;
  }
}

async function orUndefined(signIn: () => Promise<string>): Promise<string | undefined> {
  try {
    return await signIn();
  } catch (error) {
    if (error instanceof Problem && error.code === "unauthenticated") return undefined;
    throw error;
  }
}
