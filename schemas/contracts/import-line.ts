const TEXT = { type: "string" } as const;
const ID = { type: "string", format: "uuid" } as const;

/**
 * One line of an import body, for the OpenAPI document. `enrich/` does not validate with it, for speed and because it
 * imports lines with defects as well: this describes a line without defects.
 */
export const IMPORT_LINE = {
  title: "ImportEvent",
  type: "object",
  required: ["$time"],
  description: "Keys that do not begin with `$` are variables of the event: at most 64, of 1 KiB each.",
  additionalProperties: true,
  properties: {
    $time: {
      type: ["string", "number"],
      description:
        "ISO 8601, also in basic form (UTC where no zone is given), or UNIX time in seconds or milliseconds",
    },
    $unique_id: {
      type: ["string", "integer"],
      description:
        "At most 256 bytes. A later line with the same one, for the same package or pixel, replaces this",
    },
    $package: { ...ID, description: "Required if the path names no package or pixel" },
    $pixel: { ...ID, description: "Required if the path names no package or pixel; also `$tracking_pixel`" },
    $remote_address: { ...TEXT, description: "The client's IPv4 or IPv6 address" },
    $user_agent: TEXT,
    $referrer: { ...TEXT, description: "Also `$referer`" },
    $version: TEXT,
    $type: TEXT,
    $domain: TEXT,
    $headers: {
      type: "array",
      description: "`User-Agent` and `Referer` fill the gaps",
      items: { type: "object", properties: { name: TEXT, value: TEXT } },
    },
  },
} as const;
