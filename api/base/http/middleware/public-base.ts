import type { Middleware } from "koa";
import {
  type Authority,
  type Forwarded,
  parseAuthority,
  readForwarded,
} from "../../../../schemas/read-forwarded.js";
import type { ApiContext, ApiState } from "../route.js";

/**
 * Sets the URL of the API as callers reach it, for URLs in answers: `https://api.example/prefix`, without a trailing
 * slash. Taken from `Host`, or from what a trusted proxy says (`readForwarded`). Requests without a usable `Host`, such as
 * a load balancer's health checks in HTTP/1.0, get `localhost`. `publicUrl` replaces all of this, whatever a request says.
 */
export function publicBase(
  trustsProxy: (address: string) => boolean,
  collect: CollectPlace = { port: 8081 },
  publicUrl?: string,
): Middleware<ApiState> {
  return async (ctx, next) => {
    const forwarded = readForwarded(ctx.req, trustsProxy);
    ctx.state.publicBase = publicUrl ?? requestBase(ctx, forwarded);
    ctx.state.hasPublicUrl = publicUrl !== undefined;
    const isProxied = forwarded.host !== undefined || forwarded.protocol !== undefined;
    Object.assign(ctx.state, collectAddress(ctx.state.publicBase, { ...collect, isProxied }));
    await next();
    if (publicUrl !== undefined) completeLocation(ctx, publicUrl);
  };
}

/** Redirects of pages are paths, which browsers complete with the host that they asked. */
function completeLocation(ctx: ApiContext, publicUrl: string): void {
  const location = ctx.response.get("Location");
  if (location !== "") ctx.set("Location", new URL(location, publicUrl + ctx.path).href);
}

export interface CollectPlace {
  publicHost?: string;
  port: number;
}

type CollectAddress = Pick<ApiState, "collectBase" | "isCollectGuessed">;

/**
 * A host of its own is behind the same proxy. Without one the port is reached without TLS, but not behind a proxy: there
 * it is the host that the documented proxies name. The service itself speaks no TLS.
 */
export function collectAddress(
  base: string,
  { publicHost, port, isProxied }: CollectPlace & { isProxied: boolean },
): CollectAddress {
  const { protocol, hostname } = new URL(base);
  if (publicHost !== undefined) return { collectBase: `${protocol}//${publicHost}`, isCollectGuessed: false };
  const isName = /\.[a-z][a-z\d-]*\.?$/.test(hostname);
  if (!isName || !(isProxied || protocol === "https:"))
    return { collectBase: `http://${hostname}:${port}`, isCollectGuessed: false };
  return { collectBase: `${protocol}//get.${domainOf(hostname)}`, isCollectGuessed: true };
}

/** `you.example` of `stats.you.example`. A name such as `you.co.uk` is a domain itself. */
function domainOf(hostname: string): string {
  const [, parent = hostname] = /^[^.]+\.(.+\..+)$/.exec(hostname) ?? [];
  return /^(?:ac|co|com|edu|gov|net|org)\.[a-z]{2}$/.test(parent) ? hostname : parent;
}

function requestBase(ctx: ApiContext, forwarded: Forwarded): string {
  const { hostname, port } = forwarded.host ?? hostOf(ctx);
  const protocol = forwarded.protocol ?? ctx.protocol;
  const authority = [hostname, port === "" ? (forwarded.port ?? "") : port].filter((part) => part !== "");
  // Without the default port, as browsers name an origin.
  return `${new URL(`${protocol}://${authority.join(":")}`).origin}${forwarded.prefix ?? ""}`;
}

function hostOf({ host, req }: ApiContext): Authority {
  return parseAuthority(host) ?? { hostname: "localhost", port: String(req.socket.localPort ?? 80) };
}
