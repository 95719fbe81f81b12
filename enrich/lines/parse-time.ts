const DAY_MS = 86_400_000;
/** Numbers below are seconds, above are milliseconds: as seconds it is the year 5138, as milliseconds 1973. */
const SECONDS_BELOW = 100_000_000_000;

const ISO =
  /^(\d{4})-(\d{2})-(\d{2})(?:[Tt ](\d{2}):(\d{2})(?::(\d{2})(?:[.,](\d{1,9}))?)?(?:([Zz])|([+-])(\d{2}):?(\d{2})?)?)?$/;
const DIGITS = /^\d{1,15}(?:\.\d{1,9})?$/;

/**
 * `$time` as milliseconds since the epoch: an ISO 8601 date or date-time (no zone: UTC), or a UNIX timestamp in
 * seconds or milliseconds, as a number or as digits. Undefined for anything else, for dates that do not exist, and
 * outside of 1970 to one day after `receivedAt`.
 */
export function parseTime(value: unknown, receivedAt: number): number | undefined {
  const time =
    typeof value === "number" ? fromNumber(value) : typeof value === "string" ? fromText(value) : NaN;
  return time >= 0 && time <= receivedAt + DAY_MS ? time : undefined;
}

/** By way of whole microseconds: 1.001 s times 1000 is a little less than 1001 ms. */
function fromNumber(value: number): number {
  if (value < 0) return NaN;
  return Math.floor(value < SECONDS_BELOW ? Math.round(value * 1e6) / 1e3 : value);
}

function fromText(text: string): number {
  const parts = ISO.exec(text);
  if (parts === null) return DIGITS.test(text) ? fromNumber(Number(text)) : NaN;
  const [
    ,
    year,
    month,
    day,
    hour = "0",
    minute = "0",
    second = "0",
    fraction = "",
    ,
    sign,
    zoneHour = "0",
    zoneMinute = "0",
  ] = parts;
  const date = Date.UTC(Number(year), Number(month) - 1, Number(day));
  if (!isCalendarDate(date, { year: Number(year), month: Number(month), day: Number(day) })) return NaN;
  if (Number(hour) > 23 || Number(minute) > 59 || Number(second) > 60) return NaN;
  if (Number(zoneHour) > 23 || Number(zoneMinute) > 59) return NaN;
  const ofDay = ((Number(hour) * 60 + Number(minute)) * 60 + Number(second)) * 1000 + milliseconds(fraction);
  const zone = (Number(zoneHour) * 60 + Number(zoneMinute)) * 60_000;
  return date + ofDay - (sign === "-" ? -zone : zone);
}

/** Date.UTC carries the 30th of February over to March and the year 70 to 1970; a real date comes back as it was. */
function isCalendarDate(
  date: number,
  { year, month, day }: { year: number; month: number; day: number },
): boolean {
  const back = new Date(date);
  return back.getUTCFullYear() === year && back.getUTCMonth() + 1 === month && back.getUTCDate() === day;
}

function milliseconds(fraction: string): number {
  return Number(fraction.slice(0, 3).padEnd(3, "0"));
}
