import { isIPv6 } from "node:net";
import { COUNTRIES } from "../../schemas/countries.js";
import type { Lookups } from "../../schemas/records/enriched-event.js";
import { HEADER_BYTES_MAX, NAME_BYTES_MAX } from "../../schemas/records/import-line.js";
import { isObject } from "../../schemas/formats.js";
import { rememberTexts } from "../lookups/generation-cache.js";
import { addressOf } from "../lookups/parse-address.js";
import { cleanText, isLongerThan, truncate } from "./clean-text.js";
import type { LineFields } from "./decode-line.js";
import { numberText } from "./exact-numbers.js";
import { error, warning, type LineFault } from "./line-fault.js";

const UNIQUE_ID_BYTES_MAX = 256;
export const UNIQUE_ID_EXPECTED = `a string of 1 to ${UNIQUE_ID_BYTES_MAX} bytes or an integer`;

/** An empty text counts as missing: the header, or the other spelling, takes its place. */
export function checkTexts(fields: LineFields): LineFault | undefined {
  return (
    checkHeader("$user_agent", fields.$user_agent) ??
    checkHeader("$referer", fields.$referer) ??
    checkHeader("$referrer", fields.$referrer) ??
    checkName("$version", fields.$version) ??
    checkName("$type", fields.$type) ??
    checkName("$domain", fields.$domain)
  );
}

function checkHeader(key: string, value: unknown): LineFault | undefined {
  return value === undefined || value === null || typeof value === "string"
    ? undefined
    : invalid(key, "a string");
}

function checkName(key: string, value: unknown): LineFault | undefined {
  if (typeof value !== "string") return checkHeader(key, value);
  return isLongerThan(value, NAME_BYTES_MAX)
    ? invalid(key, `at most ${NAME_BYTES_MAX} bytes long`)
    : undefined;
}

export function readText(value: unknown): string {
  return typeof value === "string" ? headerText(value) : "";
}

export function readUserAgent(value: unknown): string {
  return typeof value === "string" ? userAgentOf(value) : "";
}

function headerText(text: string): string {
  return cleanText(truncate(text, HEADER_BYTES_MAX));
}

const userAgentOf = rememberTexts(headerText);

export function invalid(key: string, expected: string): LineFault {
  return error("invalid-value", `${key} must be ${expected}`);
}

const INTEGER = /^-?[1-9]\d*$/;

/**
 * An integer may have any size and is its digits as sent. In other forms (`5.0`, `5e0`, `-0`) it counts up to 2^53: above
 * that, two texts of one number would be two ids.
 */
export function readUniqueId(value: unknown): string | undefined {
  if (value === undefined || value === null) return "";
  if (typeof value === "number" && Number.isSafeInteger(value)) return String(value);
  // A number without a text of its own is one that JavaScript writes as it was sent.
  const sent = numberText(value) ?? (typeof value === "number" ? String(value) : undefined);
  if (sent !== undefined) return INTEGER.test(sent) ? sent : safeIntegerText(Number(sent));
  if (typeof value !== "string" || value === "" || isLongerThan(value, UNIQUE_ID_BYTES_MAX)) return undefined;
  return value;
}

function safeIntegerText(number: number): string | undefined {
  return Number.isSafeInteger(number) ? String(number) : undefined;
}

interface HeaderTexts {
  userAgent: string;
  referer: string;
}

const NO_HEADERS: HeaderTexts = Object.freeze({ userAgent: "", referer: "" });

export function readHeaders(value: unknown): HeaderTexts | undefined {
  if (value === undefined || value === null) return NO_HEADERS;
  if (!Array.isArray(value)) return undefined;
  const found = { userAgent: "", referer: "" };
  for (const header of value) {
    if (!isObject(header) || typeof header.name !== "string" || typeof header.value !== "string")
      return undefined;
    const name = header.name.toLowerCase();
    if (name === "user-agent") found.userAgent ||= userAgentOf(header.value);
    if (name === "referer" || name === "referrer") found.referer ||= headerText(header.value);
  }
  return found;
}

export function readAddress(value: unknown, warnings: LineFault[]): string {
  if (value === undefined || value === null || value === "") return "";
  const address = typeof value === "string" ? addressText(value) : "";
  if (address === "")
    warnings.push(warning("invalid-remote-address", "$remote_address is not an IP address"));
  return address;
}

const COUNTRY = /^[A-Za-z]{2}$/;

interface CountryReading {
  warnings: LineFault[];
  places: Lookups["places"] | undefined;
}

/** Empty for one that is none, which is no defect where the address gives the country. */
export function readCountry(value: unknown, address: string, { warnings, places }: CountryReading): string {
  if (value === undefined || value === null || value === "") return "";
  const country = typeof value === "string" && COUNTRY.test(value) ? value.toUpperCase() : "";
  if (COUNTRIES.has(country)) return country;
  const isPlaced = address !== "" && places !== undefined && places.of(address).country !== "";
  if (!isPlaced)
    warnings.push(warning("unknown-country", "$country must be a two-letter ISO 3166-1 country code"));
  return "";
}

/** The text of an address without its zone; empty for a text that is no address. */
export function addressText(text: string): string {
  const address = text.includes("%") && isIPv6(text) ? text.slice(0, text.indexOf("%")) : text;
  return addressOf(address).family === 0 ? "" : address;
}
