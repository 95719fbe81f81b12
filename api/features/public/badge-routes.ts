import { bytesTag } from "../../base/http/answers/headers.js";
import { PUBLIC_HEADERS } from "../../base/http/middleware/browser-security.js";
import { type ApiContext, type PublicRoute, paramOf } from "../../base/http/route.js";
import { type BadgeFace, badgeSvg } from "./badge-svg.js";
import { choosePublic, readPublicPackages } from "./public-packages.js";
import { type BadgeAsked, parseBadge, plainText } from "./parse-badge.js";
import {
  type BadgeValue,
  type PublicNumbersDeps,
  keepPublicNumbers,
  readBadgeValue,
} from "./public-numbers.js";
import { BADGE_JSON, BADGE_SVG, CACHE_SECONDS } from "./badge-operations.js";
import { clientAddress } from "../../base/identity/client-address.js";
import { FailureLimit } from "../../base/identity/failure-limits.js";
import { Problem } from "../../../schemas/problem.js";

export interface PublicRoutesDeps extends PublicNumbersDeps {
  limit: LimitByAddress;
}

interface Badge extends BadgeFace {
  isKnown: boolean;
  /** 200 by default. */
  status?: number;
}

/**
 * A package that is not public looks like none. Parameters that are not known are ignored: readmes add one to get past
 * caches. A picture says itself which value is wrong, because an error would be a broken image.
 */
export function badgeRoutes({ limit, ...deps }: PublicRoutesDeps): PublicRoute[] {
  const read = keepPublicNumbers<BadgeValue>(deps);
  const badgeFor = async (ctx: ApiContext): Promise<Badge> => {
    await limit(ctx);
    const asked = parseBadge(ctx.query);
    const named = { owner: paramOf(ctx, "owner"), name: paramOf(ctx, "name"), type: asked.type };
    const found = choosePublic(await readPublicPackages(deps.pg, named), "badge");
    if (found === undefined) return unknownBadge(asked);
    const now = new Date();
    const key = `${asked.metric} ${asked.period} ${now.toISOString().slice(0, 10)}`;
    return knownBadge(asked, await read({ found, key, read: (at) => readBadgeValue(at, { ...asked, now }) }));
  };
  return [
    {
      method: "GET",
      path: "/badge/:owner/:name.svg",
      operation: BADGE_SVG,
      async handle(ctx) {
        const badge = await badgeFor(ctx).catch(wrongBadge);
        answer(ctx, "image/svg+xml", badgeSvg(badge));
        if (badge.status !== undefined) ctx.status = badge.status;
      },
    },
    {
      method: "GET",
      path: "/badge/:owner/:name.json",
      operation: BADGE_JSON,
      handle: async (ctx) => {
        const badge = await badgeFor(ctx);
        answer(ctx, "application/json", JSON.stringify(endpointOf(badge)));
      },
    },
  ];
}

const GREY = "#9f9f9f";
const RED = "#e05d44";
const BLUE = "#007ec6";
const VERSION_CHARACTERS_MAX = 64;

/** Throws every other error again. */
function wrongBadge(error: unknown): Badge {
  if (!(error instanceof Problem) || error.code !== "invalid-query") throw error;
  const { message, status } = error;
  return { label: "badge", style: "flat", message, color: RED, isKnown: false, status };
}

function unknownBadge({ label, style }: BadgeAsked): Badge {
  return { label, style, message: "unknown", color: GREY, isKnown: false };
}

function knownBadge(
  { metric, label, style, color = BLUE }: BadgeAsked,
  { count, version }: BadgeValue,
): Badge {
  if (metric !== "version") return { label, style, color, message: badgeCount(count), isKnown: true };
  const message = plainText([...(version ?? "")].slice(0, VERSION_CHARACTERS_MAX).join("")) || "none";
  return { label, style, color: version === undefined ? GREY : color, message, isKnown: true };
}

/** https://shields.io/badges/endpoint-badge. `isError` keeps a reader's colour away from `unknown`. */
function endpointOf({ label, message, color, style, isKnown }: Badge) {
  return {
    schemaVersion: 1,
    label,
    message,
    color,
    style,
    cacheSeconds: CACHE_SECONDS,
    ...(!isKnown && { isError: true }),
  };
}

function answer(ctx: ApiContext, type: string, text: string): void {
  const bytes = Buffer.from(text);
  ctx.set({
    ...PUBLIC_HEADERS,
    ETag: bytesTag(bytes),
    "Cache-Control": `public, max-age=${CACHE_SECONDS}`,
  });
  ctx.type = type;
  ctx.body = bytes;
}

/** Below it, a number would tell too much of single people. */
const EXACT_MIN = 10;
const UNITS = ["", "k", "M", "G", "T"] as const;

/** A count as a badge has it: `<10`, then rounded to two significant digits: `12`, `120`, `1.2k`, `34M`. */
export function badgeCount(count: number): string {
  if (count < EXACT_MIN) return `<${EXACT_MIN}`;
  const rounded = Number(count.toPrecision(2));
  const power = Math.min(UNITS.length - 1, Math.floor((String(rounded).length - 1) / 3));
  return `${rounded / 1000 ** power}${UNITS[power]}`;
}

/** In a minute and for one address. Image proxies ask for the badges of many readers, but seldom, because they cache. */
export const REQUESTS_MAX = 300;

/** Counts a request without a token. Throws `rate-limited`. */
type LimitByAddress = (ctx: ApiContext) => Promise<void>;

/** Bounds what one address may ask for without a token. Each process counts for itself. */
export function limitByAddress(trustsProxy: (address: string) => boolean): LimitByAddress {
  const limit = new FailureLimit(REQUESTS_MAX);
  return async (ctx) => {
    const retryAfterSeconds = await limit.countAttempt(clientAddress(ctx.req, trustsProxy));
    if (retryAfterSeconds === 0) return;
    throw new Problem("rate-limited", "Too many requests from your IP address. Try again later.", {
      retryAfterSeconds,
    });
  };
}
