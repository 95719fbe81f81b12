import { AUTOMATED } from "../../../schemas/records/enriched-event.js";

interface EventColumn {
  /** On the wire, in every format. */
  readonly name: string;
  /** ClickHouse's expression of it: `e` is a row of `events`. */
  readonly sql: string;
  readonly schema: {
    readonly type: string | readonly string[];
    readonly format?: string;
    readonly enum?: readonly string[];
  };
  readonly description?: string;
  /** Never empty. */
  readonly required?: true;
}

const TEXT = { type: "string" } as const;
const NUMBER = { type: ["number", "null"] } as const;

/** 32 hexadecimal digits, or nothing where the hash is not known. */
function hashSql(column: string): string {
  return `if(${column} = toFixedString('', 16), '', lower(hex(${column})))`;
}

const VARIABLES_SQL =
  "arrayStringConcat(arrayMap((name, value) -> concat(encodeURLComponent(name), '=', encodeURLComponent(value)), " +
  "mapKeys(e.variables), mapValues(e.variables)), '&')";

/**
 * The export's statement and the API document follow from this list. A new one goes last. What is not known
 * is empty, and absent where it is a number.
 */
export const EVENT_COLUMNS: readonly EventColumn[] = [
  {
    name: "type",
    sql: "e.type",
    schema: TEXT,
    required: true,
    description: "Type of the event, such as `image-pull`, `pixel-fetch` or `file-download`",
  },
  {
    name: "package",
    sql: "package_name",
    schema: TEXT,
    description: "Name of the package. For pixel events, the pixel's package",
  },
  { name: "version", sql: "e.package_version", schema: TEXT },
  {
    name: "time",
    sql: "toDateTime64(e.time, 6, 'UTC')",
    schema: { ...TEXT, format: "date-time" },
    required: true,
  },
  { name: "referer", sql: "e.referer", schema: TEXT },
  { name: "user_agent", sql: "e.user_agent", schema: TEXT },
  {
    name: "variables",
    sql: `if(e.type = 'file-download', ${VARIABLES_SQL}, '')`,
    schema: TEXT,
    description: "Variables of a `file-download` event, as a query string",
  },
  {
    name: "origin_id",
    sql: hashSql("e.origin_id"),
    schema: TEXT,
    description: "Opaque id of the client. Equal ids mean the same client",
  },
  { name: "origin_latitude", sql: "if(isNaN(e.latitude), NULL, e.latitude)", schema: NUMBER },
  { name: "origin_longitude", sql: "if(isNaN(e.longitude), NULL, e.longitude)", schema: NUMBER },
  {
    name: "origin_country",
    sql: "e.country",
    schema: TEXT,
    description: "Country of the client, as an ISO 3166-1 alpha-2 code",
  },
  { name: "origin_city", sql: "e.city", schema: TEXT },
  { name: "origin_postal", sql: "e.postal", schema: TEXT },
  { name: "origin_company", sql: "e.company", schema: TEXT },
  { name: "origin_domain", sql: "e.company_domain", schema: TEXT },
  {
    name: "origin_connection_type",
    sql: "e.connection_type",
    schema: TEXT,
    description: "Type of the client's network, such as `cloud provider` or `ISP`",
  },
  {
    name: "id",
    sql: "lower(hex(reinterpretAsFixedString(e.event_id)))",
    schema: TEXT,
    required: true,
    description: "Id of the event. If an event replaces another, both have the same id",
  },
  {
    name: "pixel",
    sql: "if(e.kind = 'pixel', toString(e.artifact), '')",
    schema: TEXT,
    description: "Id of the pixel, for pixel events",
  },
  { name: "platform", sql: "e.platform", schema: TEXT },
  { name: "client", sql: "e.client", schema: TEXT },
  { name: "client_version", sql: "e.client_version", schema: TEXT },
  { name: "origin_state", sql: "e.state", schema: TEXT },
  {
    name: "endpoint_id",
    sql: hashSql("e.endpoint_id"),
    schema: TEXT,
    description: "Opaque id of the IP address. Equal ids mean the same IP address",
  },
  {
    name: "automated",
    sql: "e.automated",
    schema: { ...TEXT, enum: AUTOMATED },
    description: "For automated clients: `bot`, `ci` or `mirror`",
  },
];

export const EVENT_ROW = {
  title: "EventRowV1",
  type: "object",
  required: EVENT_COLUMNS.filter(({ required }) => required).map(({ name }) => name),
  properties: Object.fromEntries(
    EVENT_COLUMNS.map(({ name, schema, description }) => [
      name,
      { ...schema, ...(description !== undefined && { description }) },
    ]),
  ),
};

export const SELECTED_COLUMNS = EVENT_COLUMNS.map(({ name, sql }) => `${sql} AS ${name}`).join(",\n  ");

export const READ_COLUMNS: readonly string[] = [
  ...new Set([...SELECTED_COLUMNS.matchAll(/\be\.(\w+)/g)].flatMap(([, name]) => name ?? [])),
];
