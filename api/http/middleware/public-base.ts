import type { Middleware } from "koa";
import {
  type Authority,
  type Forwarded,
  parseAuthority,
  readForwarded,
} from "../../../schemas/read-forwarded.js";
import type { ApiContext, ApiState } from "../route.js";

/**
 * Sets the URL of the API as callers reach it, for URLs in answers: `https://api.example/prefix`, without a trailing
 * slash. Taken from `Host`, or from what a trusted proxy says (`readForwarded`).
 * Requests without a usable `Host`, such as a load balancer's health checks in HTTP/1.0, get `localhost`.
 */
export function publicBase(
  trustsProxy: (address: string) => boolean,
  collect: CollectPlace = { port: 8081 },
): Middleware<ApiState> {
  return (ctx, next) => {
    ctx.state.publicBase = requestBase(ctx, readForwarded(ctx.req, trustsProxy));
    ctx.state.collectBase = collectBase(ctx.state.publicBase, collect);
    return next();
  };
}

export interface CollectPlace {
  publicHost?: string;
  port: number;
}

/** A host of its own is behind the same proxy. Without one the port is reached without TLS. */
function collectBase(base: string, { publicHost, port }: CollectPlace): string {
  const { protocol, hostname } = new URL(base);
  return publicHost === undefined ? `http://${hostname}:${port}` : `${protocol}//${publicHost}`;
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
