import type { Middleware } from "koa";
import { LRUCache } from "lru-cache";
import { clientAddress } from "../../identity/client-address.js";
import { FailedTokens } from "../../identity/failure-limits.js";
import {
  LastUsed,
  SESSION_DAYS,
  type SessionDeps,
  findSession,
  requireSession,
  updateSessionUsed,
} from "../../identity/sessions.js";
import { looksLike } from "../../identity/tokens.js";
import type { ApiContext, ApiState } from "../route.js";
import { isOfPages } from "./browser-security.js";

/** For pages alone: the API takes tokens alone, so that no other site's page can use a browser's session. */
export function session({ pg, tokens, trustsProxy }: SessionMiddlewareDeps): Middleware<ApiState> {
  const lastUsed = new LastUsed((id) => updateSessionUsed(pg, id));
  const findLimited = limitLookups({ pg, tokens });
  return async (ctx, next) => {
    const secret = isOfPages(ctx.path) ? readCookie(ctx, "session") : "";
    const found = looksLike("session", secret)
      ? await findLimited(secret, clientAddress(ctx.req, trustsProxy))
      : undefined;
    if (found !== undefined) {
      ctx.state.session = found.session;
      ctx.state.requireCaller = async (from) =>
        requireSession((await findSession({ pg: from, tokens }, secret))?.session).account;
      if (found.usedLongAgo) lastUsed.note(found.session.id, ctx.state.log);
    }
    await next();
  };
}

interface SessionMiddlewareDeps extends SessionDeps {
  trustsProxy: (address: string) => boolean;
}

const ENDED_MAX = 10_000;
const ENDED_MS = 60_000;

/**
 * As many unknown sessions a minute and address as wrong tokens, before PostgreSQL is asked. A browser that goes on with
 * one that ended is looked up once a minute. Throws `rate-limited`.
 */
function limitLookups(deps: SessionDeps) {
  const failed = new FailedTokens();
  const ended = new LRUCache<string, true>({ max: ENDED_MAX, ttl: ENDED_MS });
  return async (secret: string, address: string) => {
    const tokenHash = deps.tokens.hash(secret);
    const key = tokenHash.toString("base64");
    if (ended.has(key)) return undefined;
    const find = () => findSession(deps, secret);
    const found = await failed.lookUp({ address, tokenHash }, { find, sentence: tooMany });
    if (found === undefined) ended.set(key, true);
    return found;
  };
}

function tooMany(seconds: number): string {
  return `Too many expired sessions from your IP address. Try again in ${seconds} s.`;
}

interface CookieForm {
  name: string;
  path: string;
  secure: boolean;
}

/**
 * The form of a cookie of the dashboard at a public URL.
 *
 * Over https it is `__Host-`: browsers then take it only from this very host, over https, without a `Domain`, so that
 * neither a sister host nor plain http can plant one. The prefix demands `Path=/`, also where the service is below a
 * path. That gives nothing away within the browser, because a path is no boundary between pages of one origin, but the
 * servers of the host's other paths see the cookie: who shares a host must trust its other services.
 *
 * Over http browsers refuse both prefixes, and the path is the service's own.
 *
 * The name has the port and the path of the service. Cookies are shared by all ports of a host, and `Path=/` by all
 * paths: two installations on one machine would otherwise end each other's sessions.
 */
export function cookieForm(publicBase: string, purpose: "session" | "openid"): CookieForm {
  const secure = publicBase.startsWith("https:");
  const [, port = "", path = ""] = /^https?:\/\/[^/]*?(?::(\d{1,5}))?(\/.*)?$/.exec(publicBase) ?? [];
  const where = [port, ...path.split("/")].filter((part) => part !== "").map(cookieNamePart);
  const name = [`maintainer-${purpose}`, ...where].join(".");
  if (secure) return { name: `__Host-${name}`, path: "/", secure };
  return { name, path: path === "" || path.includes(";") ? "/" : path, secure };
}

/** RFC 9110, 5.6.2: paths have signs that tokens do not. */
function cookieNamePart(text: string): string {
  return text.replace(/[^\w!#$%&'*+.^`|~-]/g, (sign) => `%${sign.charCodeAt(0).toString(16).toUpperCase()}`);
}

const DAY_SECONDS = 86_400;

export function setSessionCookie(ctx: ApiContext, secret: string): void {
  setCookie(ctx, "session", { value: secret, seconds: SESSION_DAYS.whole * DAY_SECONDS });
}

export function clearSessionCookie(ctx: ApiContext): void {
  setCookie(ctx, "session", { value: "", seconds: 0 });
}

/** HttpOnly keeps scripts from it. Lax keeps it from requests of other sites but for links that are followed. */
export function setCookie(
  ctx: ApiContext,
  purpose: "session" | "openid",
  { value, seconds }: { value: string; seconds: number },
): void {
  const { name, path, secure } = cookieForm(ctx.state.publicBase, purpose);
  const attributes = [`${name}=${value}`, `Path=${path}`, `Max-Age=${seconds}`, "HttpOnly", "SameSite=Lax"];
  ctx.append("Set-Cookie", [...attributes, ...(secure ? ["Secure"] : [])].join("; "));
}

/** Empty if the request has none. Koa's own `ctx.cookies` would not set a secure one behind a proxy. */
export function readCookie(ctx: ApiContext, purpose: "session" | "openid"): string {
  const { name } = cookieForm(ctx.state.publicBase, purpose);
  const pairs = ctx.get("Cookie").split(";");
  const pair = pairs.map((each) => each.trim()).find((each) => each.startsWith(`${name}=`));
  return pair?.slice(name.length + 1) ?? "";
}
