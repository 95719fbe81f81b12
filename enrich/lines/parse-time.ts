import { DAY_MS } from "../../schemas/date-range.js";
import { numberText } from "./exact-numbers.js";

/** Numbers below are seconds, above are milliseconds: as seconds it is the year 5138, as milliseconds 1973. */
const SECONDS_BELOW = 100_000_000_000;

const DIGITS = /^(\d{1,15})(?:\.(\d+))?$/;

/** 1990 in milliseconds. A smaller timestamp is a year, a date or a spreadsheet's day, never the time of an event. */
const TIMESTAMPS_FROM = 631_152_000_000;

/**
 * Milliseconds since the epoch, of an ISO 8601 date or date-time (no zone: UTC) or a UNIX timestamp, as a
 * number or digits. Undefined for all else, and outside of 1970 to one day after `receivedAt`. Fractions are cut.
 */
export function parseTime(value: unknown, receivedAt: number): number | undefined {
  const time = typeof value === "string" ? fromText(value) : fromNumber(value);
  return time >= 0 && time <= receivedAt + DAY_MS ? time : undefined;
}

/**
 * What a value that `parseTime` does not take would mean as a UNIX timestamp, for a message: in ISO 8601, with its unit.
 * Undefined where it is none.
 */
export function timestampMeaning(value: unknown): string | undefined {
  const text = typeof value === "number" ? String(value) : (numberText(value) ?? value);
  const time = typeof text === "string" && DIGITS.test(text) ? Number(text) : NaN;
  const isSeconds = time < SECONDS_BELOW;
  const date = new Date(isSeconds ? time * 1000 : time);
  if (!Number.isFinite(date.getTime())) return undefined;
  return `${date.toISOString().replace(/\.\d+Z$/, "Z")}, in ${isSeconds ? "seconds" : "milliseconds"}`;
}

/** A number with its own text is one that JavaScript would write in another way. */
function fromNumber(value: unknown): number {
  if (typeof value === "number")
    return Number.isInteger(value) ? fromUnix(value, 0) : fromDigits(String(value));
  const text = numberText(value);
  if (text === undefined) return NaN;
  return DIGITS.test(text) ? fromDigits(text) : fromNumber(Number(text));
}

function fromDigits(text: string): number {
  const [, whole = "", fraction = ""] = DIGITS.exec(text) ?? [];
  return whole === "" ? NaN : fromUnix(Number(whole), digits(fraction.padEnd(3, "0"), 0, 3));
}

/** @param ms of a fraction of seconds */
function fromUnix(whole: number, ms: number): number {
  const time = whole < SECONDS_BELOW ? whole * 1000 + ms : whole;
  return time >= TIMESTAMPS_FROM ? time : NaN;
}

/** ISO 8601 is read by hand, with NaN for each part that is not well formed: a tenth of the time of a pattern. */
function fromText(text: string): number {
  if (text[4] !== "-") {
    if (isSeparator(text[BASIC_DATE_LENGTH])) return fromText(extendedForm(text));
    return text.length === BASIC_DATE_LENGTH ? basicDate(text) : fromDigits(text);
  }
  return dateOf(text) + (text.length === DATE_LENGTH ? 0 : timeOfDay(text));
}

const DATE_LENGTH = "2026-08-04".length;

const BASIC_DATE_LENGTH = "20260804".length;

/** As a timestamp, eight digits are before 1974. */
function basicDate(text: string): number {
  return dateOf(`${text.slice(0, 4)}-${text.slice(4, 6)}-${text.slice(6)}`);
}

/** Puts the hyphens and colons into a date-time in ISO 8601's basic form, `20260804T115826Z`. Checks nothing else. */
function extendedForm(text: string): string {
  const [year, month, day] = [text.slice(0, 4), text.slice(4, 6), text.slice(6, 8)];
  const [hour, minute, rest] = [text.slice(9, 11), text.slice(11, 13), text.slice(13)];
  // A colon would mix both forms.
  const seconds = digitAt(rest, 0) >= 0 || rest[0] === ":" ? `:${rest}` : rest;
  return `${year}-${month}-${day}T${hour}:${minute}${seconds}`;
}

/** Midnight of the date that a text begins with. */
function dateOf(text: string): number {
  const year = digits(text, 0, 4);
  const month = digits(text, 5, 2);
  const day = digits(text, 8, 2);
  const isDate = text[7] === "-" && month >= 1 && month <= 12 && day >= 1 && day <= daysIn(month, year);
  return isDate ? daysTo(year, month, day) * DAY_MS : NaN;
}

function daysIn(month: number, year: number): number {
  if (month === 2) return isLeap(year) ? 29 : 28;
  return month === 4 || month === 6 || month === 9 || month === 11 ? 30 : 31;
}

function isLeap(year: number): boolean {
  return year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0);
}

const DAYS_BEFORE_MONTH = [0, 31, 59, 90, 120, 151, 181, 212, 243, 273, 304, 334];
const DAYS_BEFORE_1970 = 719_162;

/** Days since 1970 in the Gregorian calendar. */
function daysTo(year: number, month: number, day: number): number {
  const years = year - 1;
  const leapDays = Math.floor(years / 4) - Math.floor(years / 100) + Math.floor(years / 400);
  const inYear = DAYS_BEFORE_MONTH[month - 1]! + (month > 2 && isLeap(year) ? 1 : 0) + day - 1;
  return years * 365 + leapDays + inYear - DAYS_BEFORE_1970;
}

/** Milliseconds from midnight in UTC, of `hh:mm[:ss[.fff]]` and a zone after the date. */
function timeOfDay(text: string): number {
  if (!isSeparator(text[DATE_LENGTH]) || text[13] !== ":") return NaN;
  const hour = digits(text, 11, 2);
  const minute = digits(text, 14, 2);
  const hasSecond = text[16] === ":";
  const second = hasSecond ? digits(text, 17, 2) : 0;
  if (hour > 23 || minute > 59 || second > 60) return NaN;
  const end = hasSecond ? 19 : 16;
  const hasFraction = hasSecond && (text[end] === "." || text[end] === ",");
  const fractionEnd = hasFraction ? endOfDigits(text, end + 1) : end;
  const ms = hasFraction ? milliseconds(text.slice(end + 1, fractionEnd)) : 0;
  const minutes = hour * 60 + minute - zoneOffset(text, fractionEnd) / 60_000;
  // RFC 3339, section 5.7: a leap second is the last of a day in UTC.
  if (second === 60 && (minutes + 1) % MINUTES_OF_DAY !== 0) return NaN;
  return (minutes * 60 + second) * 1000 + ms;
}

const MINUTES_OF_DAY = 24 * 60;

function isSeparator(character: string | undefined): boolean {
  return character === "T" || character === "t" || character === " ";
}

function endOfDigits(text: string, start: number): number {
  let end = start;
  while (digitAt(text, end) >= 0) end++;
  return end;
}

function milliseconds(fraction: string): number {
  if (fraction.length === 0) return NaN;
  return digits(fraction.padEnd(3, "0"), 0, 3);
}

/** The offset from UTC in milliseconds, from `at` to the end of the text: none, `Z`, `+hh`, `+hhmm` or `+hh:mm`. */
function zoneOffset(text: string, at: number): number {
  const length = text.length - at;
  if (length === 0) return 0;
  const sign = text[at];
  if (sign === "Z" || sign === "z") return length === 1 ? 0 : NaN;
  if (sign !== "+" && sign !== "-") return NaN;
  const hour = digits(text, at + 1, 2);
  const minute = length === 3 ? 0 : digits(text, text.length - 2, 2);
  const isWellFormed = length === 3 || length === 5 || (length === 6 && text[at + 3] === ":");
  if (!isWellFormed || hour > 23 || minute > 59) return NaN;
  return (hour * 60 + minute) * (sign === "-" ? -60_000 : 60_000);
}

/** The value of `count` decimal digits, or NaN where one is none. */
function digits(text: string, from: number, count: number): number {
  let value = 0;
  for (let at = from; at < from + count; at++) {
    const digit = digitAt(text, at);
    value = digit < 0 ? NaN : value * 10 + digit;
  }
  return value;
}

const DIGIT_0 = 0x30;

function digitAt(text: string, at: number): number {
  const digit = text.charCodeAt(at) - DIGIT_0;
  return digit >= 0 && digit <= 9 ? digit : -1;
}
