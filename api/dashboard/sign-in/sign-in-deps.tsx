import { clientAddress } from "../../base/identity/client-address.js";
import type { OpenIdProvider } from "../../base/identity/openid.js";
import { setSessionCookie } from "../../base/http/middleware/session.js";
import { type Session, deleteSession, findSession, requireSession } from "../../base/identity/sessions.js";
import type { Attempting, SignInDeps } from "../../base/identity/sign-in.js";
import type { ApiContext } from "../../base/http/route.js";
import { prefixOf } from "../../web/address.js";
import { useVisit } from "../../web/page.js";
import { PageHead } from "../../web/parts/panel.js";

export interface SignInPagesDeps extends SignInDeps {
  /** Whether `X-Forwarded-*` and `Forwarded` are trusted from this address. */
  trustsProxy: (address: string) => boolean;
  openid: OpenIdProvider | undefined;
  /** The words before a command of the operator. */
  adminCommand: string;
}

export function attemptingOf(ctx: ApiContext, { trustsProxy }: SignInPagesDeps): Attempting {
  const browser = { userAgent: ctx.get("User-Agent"), address: clientAddress(ctx.req, trustsProxy) };
  const { requestId, recordAccess } = ctx.state;
  return { browser, requestId, recordAccess };
}

/** Gives the browser its new session, in place of the one that it had. */
export async function putSession(ctx: ApiContext, deps: SignInPagesDeps, secret: string): Promise<void> {
  const { session: old } = ctx.state;
  if (old !== undefined) await deleteSession(deps.pg, { accountId: old.account.id, id: old.id });
  const found = await findSession(deps, secret);
  if (found !== undefined) ctx.state.session = found.session;
  setSessionCookie(ctx, secret);
}

/** The address of the page that the person wanted, as browsers see it. */
export function targetAddress(ctx: ApiContext, to: string): string {
  return prefixOf(ctx.state.publicBase) + redirectTarget(to);
}

/** The session of a page that needs one. */
export function sessionOf({ state: { session } }: ApiContext): Session {
  return requireSession(session);
}

/** A page of the dashboard; else the dashboard itself, so that no link leads from here to somebody else's page. */
export function redirectTarget(to: string): string {
  if (to.length > LENGTH_MAX || !/^\/dashboard([/?]|$)/.test(to) || /[\\\p{Cc}]/u.test(to)) return HOME;
  if (!URL.canParse(to, HERE)) return HOME;
  // Dot segments are gone from these, however they were written.
  const { origin, pathname, search } = new URL(to, HERE);
  const isPage =
    /^\/dashboard(\/|$)/.test(pathname) && !/^\/dashboard\/(sign-in|sign-out|api)(\/|$)/.test(pathname);
  return origin === HERE && isPage ? pathname + search : HOME;
}

const HERE = "http://here.invalid";
const HOME = "/dashboard";
const LENGTH_MAX = 2000;

/** A failed way to sign in: the one sentence for every reason, and a link to the other ways. */
export function NotSignedIn({ title, sentence }: { title: string; sentence: string }) {
  const { href } = useVisit();
  return (
    <div class="sign-in">
      <PageHead title={title} />
      <p class="problem" role="alert">
        {sentence}
      </p>
      <p>
        <a href={href("/sign-in")}>Sign in another way</a>
      </p>
    </div>
  );
}
