/** Longest line that is imported, in bytes without its line end. */
export const LINE_BYTES_MAX = 1_048_576;

/** Longest `$version`, `$type` and `$domain`: a line with a longer one is refused. */
export const NAME_BYTES_MAX = 256;

/** User agents and referrers are cut to this length. */
export const HEADER_BYTES_MAX = 2048;

/** The most custom variables of an event; the rest is left out. */
export const VARIABLES_MAX = 64;

/** A variable with a longer name or value is left out. */
export const VARIABLE_BYTES_MAX = 1024;
const SPACE = 0x20;
const TAB = 0x09;
const CARRIAGE_RETURN = 0x0d;

/**
 * Whether the bytes from `start` to `end` are a blank line. One that was cut short is not, whatever it begins with. Makes no
 * view: a body may be millions of such lines, and a view takes longer than hundreds of bytes.
 */
export function isBlank(bytes: Buffer, start = 0, end = bytes.length): boolean {
  let at = start;
  while (at < end && isSpace(bytes[at])) at++;
  if (at < end) return false;
  const hasReturn = end > start && bytes[end - 1] === CARRIAGE_RETURN;
  return end - start - Number(hasReturn) <= LINE_BYTES_MAX;
}

function isSpace(byte: number | undefined): boolean {
  return byte === SPACE || byte === TAB || byte === CARRIAGE_RETURN;
}

/** Without the CR that some systems put before the line end. */
export function lineLength(bytes: Buffer): number {
  return bytes[bytes.length - 1] === CARRIAGE_RETURN ? bytes.length - 1 : bytes.length;
}

const BYTE_ORDER_MARK = Buffer.from([0xef, 0xbb, 0xbf]);

/** Some systems begin every UTF-8 file with one. */
export function withoutByteOrderMark(bytes: Buffer): Buffer {
  return bytes.subarray(0, 3).equals(BYTE_ORDER_MARK) ? bytes.subarray(3) : bytes;
}

/** A small import has at most so many chunks, about 1 MiB or 4,000 events. They go on the express queue of the event log. */
export const SMALL_IMPORT_CHUNKS = 2;

const TEXT = { type: "string" } as const;
const ID = { type: "string", format: "uuid" } as const;

/**
 * For the OpenAPI document. `enrich/` does not validate with it, for speed and because it imports lines with
 * defects.
 */
export const IMPORT_LINE = {
  title: "ImportEvent",
  type: "object",
  required: ["$time"],
  description: "Keys that do not begin with `$` are variables of the event: at most 64, up to 1 KiB each.",
  additionalProperties: true,
  properties: {
    $time: {
      type: ["string", "number"],
      description:
        "ISO 8601 date or date-time, extended or basic form (UTC if it has no zone), or UNIX time in seconds or milliseconds, 1990 or later",
    },
    $unique_id: {
      type: ["string", "integer"],
      description:
        "A string of at most 256 bytes, or an integer of any size. A later line with the same id " +
        "replaces this event if it is for the same package or pixel",
    },
    $package: { ...ID, description: "Required if the path does not name a package or pixel" },
    $pixel: {
      ...ID,
      description: "Required if the path does not name a package or pixel. Alias: `$tracking_pixel`",
    },
    $remote_address: { ...TEXT, description: "The client's IPv4 or IPv6 address" },
    $user_agent: TEXT,
    $referrer: { ...TEXT, description: "URL of the referring page. Alias: `$referer`" },
    $version: TEXT,
    $type: TEXT,
    $domain: TEXT,
    $country: {
      ...TEXT,
      description:
        "Two-letter ISO 3166-1 code, for lines without an IP address. If the IP address can be located, " +
        "its country is used instead",
    },
    $headers: {
      type: "array",
      description: "Only `User-Agent` and `Referer` are used, if `$user_agent` or `$referrer` is missing",
      items: { type: "object", properties: { name: TEXT, value: TEXT } },
    },
  },
} as const;
