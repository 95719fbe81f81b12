/** Numbers and times as the dashboard writes them: English, UTC. */

const FULL = new Intl.NumberFormat("en");
const SHORT = new Intl.NumberFormat("en", { notation: "compact", maximumSignificantDigits: 3 });

/** 1234567 as 1,234,567. */
export function formatFull(count: number): string {
  return FULL.format(count);
}

/** Exact below 100,000, then three digits: 1.23 M. */
export function formatCount(count: number): string {
  return shortFrom(100_000, count);
}

/** For axes: exact below 10,000, then 12.5 K. */
export function formatShort(count: number): string {
  return shortFrom(10_000, count);
}

function shortFrom(least: number, count: number): string {
  return count < least ? FULL.format(count) : SHORT.format(count).replace(/\D$/, "\u00a0$&");
}

/** 0.123 as 12.3 %. */
export function formatShare(ratio: number): string {
  const percent = ratio * 100;
  if (percent > 0 && percent < 0.1) return "<0.1 %";
  return `${percent.toFixed(1)} %`;
}

/** A growth of 0.12 as 12 %, of 24 as 25×; a loss of nearly all as >99 %. */
export function formatChange(ratio: number): string {
  if (ratio >= 10) return `${formatShort(Math.round(ratio + 1))}×`;
  if (ratio > -1 && ratio <= -0.995) return ">99 %";
  return `${Math.round(Math.abs(ratio) * 100)} %`;
}

/** A change as text alone: +12 %. Null has nothing to be compared with. */
export function signedChange(ratio: number | null): string {
  if (ratio === null) return "new";
  if (Math.abs(ratio) < UNCHANGED_BELOW) return "±0 %";
  return `${ratio < 0 ? "−" : "+"}${formatChange(ratio)}`;
}

/** Less than half a percent is none. */
export const UNCHANGED_BELOW = 0.005;

const DAY = new Intl.DateTimeFormat("en-GB", { day: "numeric", month: "short", timeZone: "UTC" });
const DAY_OF_YEAR = new Intl.DateTimeFormat("en-GB", {
  day: "numeric",
  month: "short",
  year: "numeric",
  timeZone: "UTC",
});
const MONTH = new Intl.DateTimeFormat("en-GB", { month: "short", year: "numeric", timeZone: "UTC" });

/** `2026-11-01` as 1 Nov. */
export function formatDay(date: string): string {
  return formatted(DAY, date);
}

/** `2026-11-01` as 1 Nov 2026. */
export function formatDate(date: string): string {
  return formatted(DAY_OF_YEAR, date);
}

/** 25 Oct – 23 Nov 2026; with both years where they differ. */
export function formatDays(first: string, last: string): string {
  if (first === last) return formatDate(first);
  const isOneYear = first.slice(0, 4) === last.slice(0, 4);
  return `${isOneYear ? formatDay(first) : formatDate(first)} – ${formatDate(last)}`;
}

/** `2026-11-01` as Nov 2026. */
export function formatMonth(date: string): string {
  return formatted(MONTH, date);
}

/** A timestamp of the API as 1 Nov 2026, 08:00. */
export function formatHour(timestamp: string): string {
  return `${formatDate(timestamp.slice(0, 10))}, ${timestamp.slice(11, 16)}`;
}

/** A timestamp of the API as 1 Nov 2026, 08:00 UTC. */
export function formatTime(timestamp: string): string {
  return `${formatDate(timestamp.slice(0, 10))}, ${timestamp.slice(11, 16)} UTC`;
}

/** A date in an address may be none. */
function formatted(format: Intl.DateTimeFormat, date: string): string {
  const time = new Date(`${date}T00:00:00Z`);
  return Number.isNaN(time.getTime()) ? date : format.format(time);
}

const NAMES = new Intl.DisplayNames(["en"], { type: "region", fallback: "code" });

/** The English name of an ISO 3166-1 alpha-2 code; the text itself if it is none. */
export function countryName(code: string): string {
  return /^[A-Z]{2}$/.test(code) ? (NAMES.of(code) ?? code) : code;
}
