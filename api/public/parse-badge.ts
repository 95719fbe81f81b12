import type { ParsedUrlQuery } from "node:querystring";
import { Problem } from "../../schemas/problem.js";
import { LIBRARY_TYPES, type LibraryType } from "../../schemas/records/artifact.js";
import { storedType } from "../../schemas/contracts/package.js";

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

/** Throws `invalid-query`. The answer depends on no stored data. */
export function parseBadge(query: ParsedUrlQuery): BadgeAsked {
  const metric = oneOf(query, "metric", METRICS);
  const period = oneOf(query, "period", PERIODS) ?? "month";
  const name = metric ?? "downloads";
  return {
    metric: name,
    period,
    style: oneOf(query, "style", STYLES) ?? "flat",
    label: labelOf(query) ?? defaultLabel(name, period),
    color: colorOf(query),
    type: parseType(query),
  };
}

/** The type that tells packages of one name apart, if given. Throws `invalid-query`. */
export function parseType(query: ParsedUrlQuery): LibraryType | undefined {
  const type = oneOf(query, "type", TYPES);
  return type === undefined ? undefined : storedType(type);
}

function defaultLabel(metric: Metric, period: Period): string {
  if (metric === "version") return "version";
  const counted = metric === "addresses" ? "unique IPs" : metric;
  return period === "total" ? counted : `${counted}/${period}`;
}

function labelOf(query: ParsedUrlQuery): string | undefined {
  const label = onceOf(query, "label");
  if (label === undefined) return undefined;
  if ([...label].length > LABEL_CHARACTERS_MAX)
    throw new Problem("invalid-query", `label must have at most ${LABEL_CHARACTERS_MAX} characters.`);
  return plainText(label);
}

/** XML 1.0 has no control characters, and neither has it half of a surrogate pair. */
export function plainText(text: string): string {
  return text.replace(/\p{Cc}|\p{Cs}|[\ufffe\uffff]/gu, " ").trim();
}

function colorOf(query: ParsedUrlQuery): string | undefined {
  const text = onceOf(query, "color");
  if (text === undefined) return undefined;
  const color = badgeColor(text);
  if (color !== undefined) return color;
  throw new Problem("invalid-query", "color must be a name such as blue, or 3 or 6 hexadecimal digits.");
}

function onceOf(query: ParsedUrlQuery, name: string): string | undefined {
  const value = query[name];
  if (value === undefined || typeof value === "string") return value;
  throw new Problem("invalid-query", `${name} can be given only once.`);
}

export function oneOf<T extends string>(
  query: ParsedUrlQuery,
  name: string,
  values: readonly T[],
): T | undefined {
  const text = onceOf(query, name);
  const found = values.find((value) => value === text);
  if (text === undefined || found !== undefined) return found;
  throw new Problem("invalid-query", `${name} must be one of ${values.join(", ")}.`);
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
