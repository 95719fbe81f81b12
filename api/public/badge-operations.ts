import { titledObject } from "../../schemas/formats.js";
import type { Operation, Parameter } from "../http/route.js";
import { COLOR_NAMES, LABEL_CHARACTERS_MAX, METRICS, PERIODS, STYLES, TYPES } from "./parse-badge.js";

/** How long caches may keep a badge. */
export const CACHE_SECONDS = 3600;

export const TYPE_PARAMETER: Parameter = {
  schema: { type: "string", enum: TYPES },
  description: "The type of the package, where the owner has several public ones of that name",
};

const QUERY: Record<string, Parameter> = {
  metric: {
    schema: { type: "string", enum: METRICS, default: "downloads" },
    description:
      "Downloads, the addresses that they came from, or the version that was downloaded most often",
  },
  period: {
    schema: { type: "string", enum: PERIODS, default: "month" },
    description: "The last 1, 7 or 30 whole days (UTC), or all",
  },
  label: {
    schema: { type: "string", maxLength: LABEL_CHARACTERS_MAX },
    description:
      "The text on the left; by default the metric and the period. Empty: the badge has no left part",
  },
  color: {
    schema: { type: "string" },
    description: `The colour of the right part: three or six hexadecimal digits, or one of ${COLOR_NAMES.join(", ")}`,
    example: "blue",
  },
  style: { schema: { type: "string", enum: STYLES, default: "flat" }, description: "The look of the badge" },
  type: TYPE_PARAMETER,
};

const DESCRIPTION =
  "For packages whose `public` is `badge` or `page`. A count below 10 is `<10`; others are rounded to two digits, as in " +
  "`1.2k`. A package that is not public, or that does not exist, has a grey `unknown`. Other parameters are ignored. 300 requests a minute from one address are answered.";

const CACHED = {
  "Cache-Control": { schema: { type: "string" }, required: true, description: "`public, max-age=3600`" },
} as const;

const ON_BADGE = {
  tag: "Packages",
  description: DESCRIPTION,
  path: {
    name: { schema: { type: "string" }, description: "The package's name, percent-encoded", example: "web" },
  },
  query: QUERY,
  problems: ["rate-limited", "unavailable"],
} as const satisfies Partial<Operation>;

export const BADGE_SVG: Operation = {
  ...ON_BADGE,
  id: "getBadge",
  summary: "The badge of a public package",
  answers: {
    200: {
      description: "The picture",
      schema: { type: "string" },
      types: ["image/svg+xml"],
      headers: {
        ...CACHED,
        ETag: { schema: { type: "string" }, required: true, description: "For `If-None-Match`" },
      },
    },
    304: { description: "What the caller has is still the same" },
    400: {
      description: "A picture that says which parameter has a wrong value",
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
  summary: "The badge of a public package, as shields.io reads it",
  answers: {
    200: {
      description: "For https://img.shields.io/endpoint?url=",
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
            description: "Where it is unknown",
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
