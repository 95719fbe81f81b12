import type { ParsedUrlQuery } from "node:querystring";
import { LIBRARY_TYPES, type LibraryType } from "../../../schemas/records/artifact.js";
import { storedType } from "../../../schemas/contracts/package.js";
import { type Parameters, readParameters } from "../../base/http/answers/query-parameters.js";

export const METRICS = ["downloads", "addresses", "version"] as const;
export const PERIODS = ["day", "week", "month", "total"] as const;
export const STYLES = ["flat", "flat-square", "for-the-badge"] as const;
export const TYPES = [...LIBRARY_TYPES, "file"] as const;
export type Metric = (typeof METRICS)[number];
export type Period = (typeof PERIODS)[number];
export type Style = (typeof STYLES)[number];
export const LABEL_CHARACTERS_MAX = 64;

/** A badge as it is asked for, before it is known whether there is such a package. */
export interface BadgeAsked {
  metric: Metric;
  period: Period;
  style: Style;
  label: string;
  /** `#rrggbb`; undefined if none was asked for. */
  color: string | undefined;
  type: LibraryType | undefined;
}

/** The named colours of shields.io (badge-maker, `lib/color.js`). */
const NAMED: Readonly<Record<string, string>> = {
  brightgreen: "#4c1",
  green: "#97ca00",
  yellowgreen: "#a4a61d",
  yellow: "#dfb317",
  orange: "#fe7d37",
  red: "#e05d44",
  blue: "#007ec6",
  grey: "#555",
  gray: "#555",
  lightgrey: "#9f9f9f",
  lightgray: "#9f9f9f",
  success: "#4c1",
  important: "#fe7d37",
  critical: "#e05d44",
  informational: "#007ec6",
  inactive: "#9f9f9f",
};

export const COLOR_NAMES = Object.keys(NAMED);

export const TYPE_QUERY = {
  type: {
    schema: { type: "string", enum: TYPES },
    description: "Type of the package, if the owner has several public packages of that name",
  },
} as const satisfies Parameters;

export const BADGE_QUERY = {
  metric: {
    schema: { type: "string", enum: METRICS, default: "downloads" },
    description: "Downloads, unique IP addresses, or the most downloaded version",
  },
  period: {
    schema: { type: "string", enum: PERIODS, default: "month" },
    description: "The last 1, 7 or 30 complete days (UTC), or all time",
  },
  label: {
    schema: { type: "string", maxLength: LABEL_CHARACTERS_MAX },
    description: "Text on the left (default: the metric and the period). If empty, the left part is omitted",
    sentence: `must have at most ${LABEL_CHARACTERS_MAX} characters`,
  },
  color: {
    schema: { type: "string" },
    description: `Colour of the right part: three or six hexadecimal digits, or one of ${COLOR_NAMES.join(", ")}`,
    example: "blue",
    sentence: "must be a name such as blue, or 3 or 6 hexadecimal digits",
    allows: (text) => badgeColor(text) !== undefined,
  },
  style: { schema: { type: "string", enum: STYLES, default: "flat" }, description: "Style of the badge" },
  ...TYPE_QUERY,
} as const satisfies Parameters;

/** Throws `invalid-query`. The answer depends on no stored data. */
export function parseBadge(query: ParsedUrlQuery): BadgeAsked {
  const { metric, period, style, label, color, type } = readParameters(query, BADGE_QUERY);
  return {
    metric,
    period,
    style,
    label: label === undefined ? defaultLabel(metric, period) : plainText(label),
    color: color === undefined ? undefined : badgeColor(color),
    type: typeOf(type),
  };
}

/** The type that distinguishes packages of one name, if given. */
export function typeOf(type: (typeof TYPES)[number] | undefined): LibraryType | undefined {
  return type === undefined ? undefined : storedType(type);
}

function defaultLabel(metric: Metric, period: Period): string {
  if (metric === "version") return "version";
  const counted = metric === "addresses" ? "unique IPs" : metric;
  return period === "total" ? counted : `${counted}/${period}`;
}

/** XML 1.0 has no control characters, and neither has it half of a surrogate pair. */
export function plainText(text: string): string {
  return text.replace(/\p{Cc}|\p{Cs}|[\ufffe\uffff]/gu, " ").trim();
}

/** `#rrggbb` of a name or of three or six hexadecimal digits, with `#` or without. Undefined if it is neither. */
export function badgeColor(text: string): string | undefined {
  const hex = Object.hasOwn(NAMED, text) ? NAMED[text] : text.toLowerCase();
  const [, digits] = /^#?([0-9a-f]{3}|[0-9a-f]{6})$/.exec(hex ?? "") ?? [];
  if (digits === undefined) return undefined;
  return `#${digits.length === 6 ? digits : [...digits].map((digit) => digit + digit).join("")}`;
}

/** Whether text on it has to be dark: by the brightness that W3C's AERT 2.2 gives a colour. */
export function isLight(color: string): boolean {
  const [red = 0, green = 0, blue = 0] = [1, 3, 5].map((at) => parseInt(color.slice(at, at + 2), 16));
  return (red * 299 + green * 587 + blue * 114) / 255_000 > 0.69;
}
