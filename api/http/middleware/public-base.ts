import type { Middleware } from "koa";
import type { ApiContext, ApiState } from "../route.js";

/**
 * Sets the URL of the API as callers reach it, for URLs in answers: `https://api.example/prefix`, without a trailing
 * slash. Taken from `Host`, or from `X-Forwarded-Proto`, `-Host` and `-Prefix` if the connection is a trusted proxy's.
 * Requests without a usable `Host`, such as a load balancer's health checks in HTTP/1.0, get `localhost`.
 */
export function publicBase(
  trustsProxy: (address: string) => boolean,
  collect: CollectPlace = { port: 8081 },
): Middleware<ApiState> {
  return (ctx, next) => {
    const forwarded = trustsProxy(ctx.req.socket.remoteAddress ?? "");
    ctx.state.publicBase = forwarded ? forwardedBase(ctx) : `${ctx.protocol}://${hostOf(ctx)}`;
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

function forwardedBase(ctx: ApiContext): string {
  const protocol = firstOf(ctx, { header: "X-Forwarded-Proto", form: /^https?$/ }) ?? ctx.protocol;
  const host = firstOf(ctx, { header: "X-Forwarded-Host", form: HOST }) ?? "";
  const prefix = firstOf(ctx, { header: "X-Forwarded-Prefix", form: /^(\/[A-Za-z0-9._~-]+)*\/?$/ }) ?? "";
  return `${protocol}://${isHost(host) ? host : hostOf(ctx)}${prefix.replace(/\/$/, "")}`;
}

const HOST = /^[A-Za-z0-9._:[\]-]+$/;

function hostOf({ host, req }: ApiContext): string {
  return isHost(host) ? host : `localhost:${req.socket.localPort ?? 80}`;
}

function isHost(text: string): boolean {
  return HOST.test(text) && URL.canParse(`http://${text}`);
}

/** The first entry of a list header, set by the outermost proxy, if it has the right form. */
function firstOf(ctx: ApiContext, { header, form }: { header: string; form: RegExp }): string | undefined {
  const [first = ""] = ctx.get(header).split(",", 1);
  return first.trim() !== "" && form.test(first.trim()) ? first.trim() : undefined;
}
