import { renderPublicPage } from "./public-content.js";
import { orErrorPage } from "../../web/error-page.js";
import { bareVisit } from "../../web/open-visit.js";
import { bytesTag } from "../../base/http/answers/headers.js";
import { readQuery } from "../../base/http/answers/query-parameters.js";
import {
  type AnswerContent,
  type ApiContext,
  type Operation,
  type PublicRoute,
  paramOf,
} from "../../base/http/route.js";
import { choosePublic, readPublicPackages } from "./public-packages.js";
import { TYPE_QUERY, typeOf } from "./parse-badge.js";
import { PUBLIC_DAYS, type PublicNumbers, keepPublicNumbers, readPublicPage } from "./public-numbers.js";
import { Problem } from "../../../schemas/problem.js";
import type { PublicRoutesDeps } from "./badge-routes.js";

/** How long caches may keep a page. */
const CACHE_SECONDS = 600;

/** A page of a package for everybody. A package that is not public is answered like one that does not exist. */
export function publicPageRoutes({ limit, ...deps }: PublicRoutesDeps): PublicRoute[] {
  const read = keepPublicNumbers<PublicNumbers>(deps);
  return [
    {
      method: "GET",
      path: "/p/:owner/:name",
      operation: PUBLIC_PAGE,
      handle: (ctx) =>
        orErrorPage(bareVisit(ctx), async () => {
          await limit(ctx);
          const { days, ...asked } = readQuery(ctx.query, PUBLIC_PAGE);
          const type = typeOf(asked.type);
          const named = { owner: paramOf(ctx, "owner"), name: paramOf(ctx, "name"), type };
          const found = choosePublic(await readPublicPackages(deps.pg, named), "page");
          if (found === undefined) throw new Problem("not-found", "Public page not found.");
          const now = new Date();
          const key = `${days} ${now.toISOString().slice(0, 10)}`;
          const numbers = await read({ found, key, read: (at) => readPublicPage(at, { days, now }) });
          const isTyped = type !== undefined;
          renderPublicPage(bareVisit(ctx), { found, isTyped, days, numbers });
          letCachesKeep(ctx);
        }),
    },
  ];
}

function letCachesKeep(ctx: ApiContext): void {
  ctx.set({ ETag: bytesTag(ctx.body as Buffer), "Cache-Control": `public, max-age=${CACHE_SECONDS}` });
}

const asPage = (description: string): AnswerContent => ({
  description,
  schema: { type: "string" },
  types: ["text/html"],
});

const PUBLIC_PAGE = {
  id: "getPublicPage",
  tag: "Packages",
  summary: "Get a package's public page",
  description:
    "Works for packages whose `public` is `page`. Shows downloads by day, country, version, client " +
    "and platform of the last `days` days, including today. Caches may keep the page for ten minutes.",
  path: {
    name: { schema: { type: "string" }, description: "Percent-encoded name of the package", example: "web" },
  },
  query: {
    days: {
      schema: { type: "integer", enum: PUBLIC_DAYS, default: PUBLIC_DAYS[0] },
      description: "Number of days",
    },
    ...TYPE_QUERY,
  },
  answers: {
    200: {
      ...asPage("The page"),
      headers: {
        ETag: { schema: { type: "string" }, required: true, description: "Use it in `If-None-Match`" },
        "Cache-Control": {
          schema: { type: "string" },
          required: true,
          description: `\`public, max-age=${CACHE_SECONDS}\``,
        },
      },
    },
    304: { description: "Not modified" },
    400: asPage("Invalid parameter"),
    404: asPage("The page does not exist or is not public"),
    429: asPage("Too many requests from this IP address"),
    503: asPage("A database is unavailable"),
  },
} as const satisfies Operation;
