import type { Artifact } from "../../schemas/records/artifact.js";
import { lineKey, sentKey } from "../../schemas/records/event-id.js";
import type { Client, EnrichedEvent, Network, Place } from "../../schemas/records/enriched-event.js";
import { LINES_IN_CHUNK } from "../../schemas/records/event-version.js";
import {
  FixedColumn,
  LowCardinalityColumn,
  TextColumn,
  TextMapColumn,
  type Column,
  type RowColumn,
} from "./columns.js";
import { SharedValues } from "./shared-values.js";
import { uuidBytes } from "./uuid-bytes.js";

/** The values that all events of a chunk share. */
export interface EventOrigin {
  /** UUID of the import, or the nil UUID for live events. */
  importId: string;
  /** Names the chunk or import among all: with the line it is the key of an event without `$unique_id`. */
  keyPrefix: string;
  /** Receipt of the chunk in ms: orders the versions of an event. */
  receiptStamp: number;
  /** First line of the chunk, 1-based. */
  firstLine: number;
}

/** A part of a block that each row adds to. */
export interface RowPart {
  add(event: EnrichedEvent, origin: EventOrigin): void;
  clear(): void;
}

/** The stored columns by name, and what each row adds to. */
export interface EventColumns {
  columns: Readonly<Record<string, Column>>;
  parts: readonly RowPart[];
}

/**
 * The stored columns of an event: the one place to add one, beside its migration. Half of them are made of objects that
 * many events share, so that a row costs one number for each of the objects.
 */
export function eventColumns(): EventColumns {
  const parts: RowPart[] = [];
  /** Shared by rows: see `SharedValues`. */
  const shared = <T extends object>(
    of: (event: EnrichedEvent, origin: EventOrigin) => T,
  ): SharedValues<T> => {
    const values = new SharedValues<T>();
    parts.push({ add: (event, origin) => values.add(of(event, origin)), clear: () => values.clear() });
    return values;
  };
  /** Of each row. */
  const row = <Kind extends RowColumn>(
    column: Kind,
    add: (column: Kind, event: EnrichedEvent, origin: EventOrigin) => void,
  ): Column => {
    parts.push({ add: (event, origin) => add(column, event, origin), clear: () => column.clear() });
    return column;
  };
  const text = (of: (event: EnrichedEvent) => string): Column =>
    row(new LowCardinalityColumn(), (column, event) => column.add(of(event)));

  const artifacts = shared<Artifact>(({ artifact }) => artifact);
  const origins = shared<EventOrigin>((_, origin) => origin);
  const clients = shared<Client>(({ client }) => client);
  const places = shared<Place>(({ place }) => place);
  const networks = shared<Network>(({ network }) => network);
  const columns = {
    artifact: artifacts.fixed("UUID", (sink, { id }) => sink.writeBytes(uuidBytes(id))),
    kind: artifacts.fixed("Enum8('package' = 1, 'pixel' = 2)", (sink, { kind }) =>
      sink.writeByte(kind === "package" ? 1 : 2),
    ),
    library_type: artifacts.texts(({ libraryType }) => libraryType),
    time: row(new FixedColumn("DateTime64(3, 'UTC')"), ({ sink }, { time }) => sink.writeUint64(time)),
    unique_key: row(new TextColumn(), (column, { uniqueId, line }, { keyPrefix }) =>
      column.add(uniqueId === "" ? lineKey(keyPrefix, line) : sentKey(uniqueId)),
    ),
    version: row(new FixedColumn("UInt64"), writeVersion),
    import_id: origins.fixed("UUID", (sink, { importId }) => sink.writeBytes(uuidBytes(importId))),
    sign: origins.fixed("Int32", (sink) => sink.writeUint32(1)),
    type: text(({ type }) => type),
    package_version: text(({ version }) => version),
    domain: text(({ domain }) => domain),
    referer: text(({ referer }) => referer),
    user_agent: text(({ userAgent }) => userAgent),
    variables: row(new TextMapColumn(), (column, { variables }) => column.add(variables)),
    client: clients.texts(({ client }) => client),
    client_version: clients.texts(({ clientVersion }) => clientVersion),
    platform: clients.texts(({ platform }) => platform),
    origin_id: row(ids(), (column, { originId }) => writeId(column, originId)),
    endpoint_id: row(ids(), (column, { endpointId }) => writeId(column, endpointId)),
    latitude: places.fixed("Float32", (sink, { latitude }) => sink.writeFloat32(latitude)),
    longitude: places.fixed("Float32", (sink, { longitude }) => sink.writeFloat32(longitude)),
    country: places.texts(({ country }) => country),
    state: places.texts(({ state }) => state),
    city: places.texts(({ city }) => city),
    postal: places.texts(({ postal }) => postal),
    company: networks.texts(({ company }) => company),
    company_domain: networks.texts(({ companyDomain }) => companyDomain),
    connection_type: networks.texts(({ connectionType }) => connectionType),
    cloud_provider: networks.texts(({ cloudProvider }) => cloudProvider),
    cloud_provider_domain: networks.texts(({ cloudProviderDomain }) => cloudProviderDomain),
  };
  return { columns, parts };
}

const ids = () => new FixedColumn("FixedString(16)");

/** 64 bits: the product passes 2^53, so the halves are written apart. */
function writeVersion({ sink }: FixedColumn, { line }: EnrichedEvent, origin: EventOrigin): void {
  const { receiptStamp, firstLine } = origin;
  const high = Math.floor(receiptStamp / STAMPS);
  sink.writeUint32((receiptStamp - high * STAMPS) * LINES_IN_CHUNK + line - firstLine);
  sink.writeUint32(high);
}

const STAMPS = 2 ** 32 / LINES_IN_CHUNK;

const ID_BYTES = 16;

function writeId({ sink }: FixedColumn, id: string): void {
  if (id === "") sink.writeZeros(ID_BYTES);
  else if (id.length === ID_BYTES) sink.writeLatin1(id);
  else throw new RangeError(`an id of ${id.length} bytes`);
}
