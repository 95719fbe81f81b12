import { titledObject } from "../../../schemas/formats.js";
import type { Operation } from "../../base/http/route.js";
import { BADGE_QUERY, STYLES } from "./parse-badge.js";

/** How long caches may keep a badge. */
export const CACHE_SECONDS = 3600;

const DESCRIPTION =
  "Works for packages whose `public` is `badge` or `page`. Counts below 10 are shown as `<10`; other " +
  "counts are rounded to two significant digits, as in `1.2k`. Packages that are not public or do not " +
  "exist get a grey `unknown`. Unknown parameters are ignored. Limit: 300 requests a minute per address.";

const CACHED = {
  "Cache-Control": { schema: { type: "string" }, required: true, description: "`public, max-age=3600`" },
} as const;

const ON_BADGE = {
  tag: "Packages",
  description: DESCRIPTION,
  path: {
    name: { schema: { type: "string" }, description: "Percent-encoded name of the package", example: "web" },
  },
  query: BADGE_QUERY,
  problems: ["rate-limited", "unavailable"],
} as const satisfies Partial<Operation>;

export const BADGE_SVG: Operation = {
  ...ON_BADGE,
  id: "getBadge",
  summary: "Get the badge of a public package",
  answers: {
    200: {
      description: "The badge image",
      schema: { type: "string" },
      types: ["image/svg+xml"],
      headers: {
        ...CACHED,
        ETag: { schema: { type: "string" }, required: true, description: "Use it in `If-None-Match`" },
      },
    },
    304: { description: "Not modified" },
    400: {
      description: "A badge image that names the invalid parameter",
      schema: { type: "string" },
      types: ["image/svg+xml"],
    },
  },
};

const TEXT = { type: "string" };

export const BADGE_JSON: Operation = {
  ...ON_BADGE,
  problems: ["invalid-query", ...ON_BADGE.problems],
  id: "getBadgeEndpoint",
  summary: "Get the badge of a public package as shields.io JSON",
  answers: {
    200: {
      description: "The badge as JSON, for `https://img.shields.io/endpoint?url=`",
      schema: titledObject(
        "BadgeEndpoint",
        ["schemaVersion", "label", "message", "color", "style", "cacheSeconds"],
        {
          schemaVersion: { type: "integer", const: 1 },
          label: TEXT,
          message: TEXT,
          color: TEXT,
          style: { type: "string", enum: STYLES },
          cacheSeconds: { type: "integer" },
          isError: {
            type: "boolean",
            const: true,
            description: "True if the package is not public or does not exist",
          },
        },
      ),
      example: {
        schemaVersion: 1,
        label: "downloads/month",
        message: "1.2k",
        color: "#007ec6",
        style: "flat",
        cacheSeconds: CACHE_SECONDS,
      },
      headers: CACHED,
    },
  },
};
