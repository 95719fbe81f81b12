import { isMailbox } from "./mailbox.js";

/** The formats of texts in requests. `sentence` completes "<field> ...". */
export const FORMATS = {
  text: { validate: isText, sentence: "must not contain NUL characters or unpaired surrogates" },
  line: {
    validate: isLine,
    sentence: "must be a single line of text without leading or trailing spaces",
  },
  "owner-name": {
    validate: isOwnerName,
    sentence:
      "must be 1 to 64 letters, digits, dots, underscores or hyphens, begin and end with a letter or digit, " +
      "and not be a reserved word",
  },
  "e-mail": { validate: isEmail, sentence: "must be an email address" },
  mailbox: { validate: isMailbox, sentence: "must be an email address, optionally with a display name" },
  website: { validate: isWebsite, sentence: "must be the URL of a website" },
  uuid: { validate: isUuid, sentence: "must be a UUID" },
  date: { validate: isCalendarDate, sentence: "must be a calendar date in the form YYYY-MM-DD" },
} as const satisfies Record<string, { validate: (text: string) => boolean; sentence: string }>;

export const NIL_UUID = "00000000-0000-0000-0000-000000000000";

export const DATE = { type: "string", format: "date" } as const;

export const COUNT = { type: "integer", minimum: 0 } as const;

/** A time in an answer, as JSON schema: UTC with exactly six fractional digits. */
export const TIMESTAMP = {
  type: "string",
  format: "date-time",
  pattern: "^\\d{4}-\\d{2}-\\d{2}T\\d{2}:\\d{2}:\\d{2}\\.\\d{6}Z$",
} as const;

export function objectOf<const Required extends readonly string[], const Properties extends object>(
  required: Required,
  properties: Properties,
) {
  return { type: "object", required, additionalProperties: false, properties } as const;
}

/** The same schema for each of these properties. */
export function recordOf<const Name extends string, const Schema extends object>(
  names: readonly Name[],
  schema: Schema,
) {
  return Object.fromEntries(names.map((name) => [name, schema])) as { readonly [Each in Name]: Schema };
}

/** The names of some properties, for the list of those that are required. */
export function namesOf<Properties extends object>(properties: Properties) {
  return Object.keys(properties) as (keyof Properties & string)[];
}

export function titledObject<
  const Title extends string,
  const Required extends readonly string[],
  const Properties extends object,
>(title: Title, required: Required, properties: Properties) {
  return { title, ...objectOf(required, properties) } as const;
}

/** PostgreSQL cannot store NUL or invalid Unicode. */
function isText(text: string): boolean {
  return !/[\0\p{Surrogate}]/u.test(text);
}

function isLine(text: string): boolean {
  return isText(text) && !/[\p{Cc}\u2028\u2029]|^\s|\s$/u.test(text);
}

/** The API's own path words, which would be ambiguous as owner names in v2 paths. */
const PATH_WORDS = new Set(["imports", "packages", "pixels", "tracking-pixels"]);

export function isOwnerName(text: string): boolean {
  return (
    /^[A-Za-z0-9](?:[A-Za-z0-9._-]{0,62}[A-Za-z0-9])?$/.test(text) && !PATH_WORDS.has(text.toLowerCase())
  );
}

export function isEmail(text: string): boolean {
  return text.length <= 254 && EMAIL.test(text);
}

/** As strict as a browser's email field (HTML Living Standard, "valid email address"), with a dot in the domain. */
const EMAIL =
  /^[a-zA-Z0-9.!#$%&'*+/=?^_`{|}~-]{1,64}@(?:[a-zA-Z0-9](?:[a-zA-Z0-9-]{0,61}[a-zA-Z0-9])?\.)+[a-zA-Z0-9](?:[a-zA-Z0-9-]{0,61}[a-zA-Z0-9])?$/;

/** An absolute http(s) URL without a user name or password, in a spelling that a parser does not silently correct. */
export function isHttpUrl(text: string): boolean {
  if (!isText(text) || !/^https?:\/\/[^/?#]/i.test(text) || /[\s\\\p{Cc}]/u.test(text)) return false;
  const url = URL.canParse(text) ? new URL(text) : undefined;
  return url !== undefined && url.username === "" && url.password === "";
}

function isWebsite(text: string): boolean {
  return (
    isHttpUrl(text) ||
    (!/^[a-z][a-z0-9+.-]*:/i.test(text) && text.includes(".") && isHttpUrl(`https://${text}`))
  );
}

const TIME =
  /^(\d{4}-\d{2}-\d{2})T([01]\d|2[0-3]):[0-5]\d(:[0-5]\d(\.\d{1,9})?)?(Z|[+-]([01]\d|2[0-3]):[0-5]\d)$/;

/** An ISO 8601 time with date, time of day and zone, as in RFC 3339. Seconds are optional. */
export function isTime(text: string): boolean {
  const [, date] = TIME.exec(text) ?? [];
  if (date === undefined) return false;
  const day = new Date(`${date}T00:00:00Z`);
  return !Number.isNaN(day.getTime()) && day.toISOString().startsWith(date);
}

export function isUuid(text: string): boolean {
  return /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i.test(text);
}

const CALENDAR_DATE = /^\d{4}-\d{2}-\d{2}$/;

/** `YYYY-MM-DD` of a day that there is. */
export function isCalendarDate(text: string): boolean {
  if (!CALENDAR_DATE.test(text)) return false;
  const date = new Date(`${text}T00:00:00Z`);
  return !Number.isNaN(date.getTime()) && date.toISOString().startsWith(text);
}

const UNITS = ["bytes", "KiB", "MiB", "GiB", "TiB"] as const;
const SIZE = /^(\d{1,16}) ?(|KiB|MiB|GiB|TiB)$/;

/** `1048576`, `512MiB` or `20 GiB` as bytes; undefined for others, zero and numbers beyond exact integers. */
export function parseBytes(text: string): number | undefined {
  const [, digits = "", unit = ""] = SIZE.exec(text) ?? [];
  const bytes =
    Number(digits) *
    1024 **
      Math.max(
        0,
        UNITS.findIndex((each) => each === unit),
      );
  return bytes > 0 && Number.isSafeInteger(bytes) ? bytes : undefined;
}

/** In the largest unit that divides it: `20 GiB`, `1500 bytes`. */
export function formatBytes(bytes: number): string {
  let power = 0;
  while (power < UNITS.length - 1 && bytes > 0 && bytes % 1024 ** (power + 1) === 0) power++;
  return `${bytes / 1024 ** power} ${UNITS[power]}`;
}

/** Arrays and null are no objects here. */
export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** A row of the database: null where a record has no field. */
export type Nullable<Record> = { [Field in keyof Required<Record>]: Required<Record>[Field] | null };

/** A record for an answer: an optional field without a value is absent, never null. */
export function withoutNulls<Record extends object>(row: {
  [Field in keyof Record]: Record[Field] | null;
}): Record {
  return Object.fromEntries(Object.entries(row).filter(([, value]) => value !== null)) as Record;
}
