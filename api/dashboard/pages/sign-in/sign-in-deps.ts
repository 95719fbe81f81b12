import { Problem } from "../../../../schemas/problem.js";
import { clientAddress } from "../../../identity/client-address.js";
import type { OpenIdProvider } from "../../../identity/openid.js";
import { setSessionCookie } from "../../../http/session-cookie.js";
import { findSession } from "../../../identity/sessions.js";
import type { Attempting, SignInDeps } from "../../../identity/sign-in.js";
import type { ApiContext } from "../../../http/route.js";
import { deleteSession, type Session } from "../../../identity/stored-sessions.js";
import { prefixOf } from "../../address.js";
import { redirectTarget } from "./redirect-target.js";

/** The dependencies of the pages of sign-in and account beyond the API. */
export interface SignInPagesDeps extends SignInDeps {
  /** Whether `X-Forwarded-For` is trusted from this address. */
  trustsProxy: (address: string) => boolean;
  openid: OpenIdProvider | undefined;
}

export function attemptingOf(ctx: ApiContext, { trustsProxy }: SignInPagesDeps): Attempting {
  const connection = {
    remoteAddress: ctx.req.socket.remoteAddress,
    forwardedFor: ctx.get("X-Forwarded-For"),
  };
  const address = clientAddress(connection, trustsProxy);
  return { browser: { userAgent: ctx.get("User-Agent"), address }, requestId: ctx.state.requestId };
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
  if (session === undefined) throw new Problem("unauthenticated", "Sign in first.");
  return session;
}
