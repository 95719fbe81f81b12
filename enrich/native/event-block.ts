import type { EnrichedEvent } from "../../schemas/records/enriched-event.js";
import {
  encodeBlock,
  FixedColumn,
  TextColumn,
  TextMapColumn,
  type Column,
  LowCardinalityColumn,
  type RowColumn,
} from "./columns.js";
import { lineKey, LINES_IN_CHUNK, sentKey } from "../../schemas/records/event-id.js";
import { hashAgent, type Ids } from "../lookups/open-ids.js";
import { AddressRows } from "./address-rows.js";
import { uuidBytes } from "./byte-sink.js";
import { SharedValues } from "./shared-values.js";

/** One Native block of `events`. `clear` keeps the memory of the columns for the next batch. */
export class EventBlock {
  readonly table = "events";
  rows = 0;
  private readonly parts = new RowParts();
  private readonly columns: Record<string, Column>;
  /** Names the columns: the rest have defaults in ClickHouse. */
  readonly insertQuery: string;

  constructor(ids: Ids) {
    this.columns = eventColumns(this.parts, ids);
    this.insertQuery = `INSERT INTO events (${Object.keys(this.columns).join(", ")}) FORMAT Native`;
  }

  add(event: EnrichedEvent, origin: EventOrigin): void {
    this.parts.add(event, origin);
    this.rows++;
  }

  /** Valid until the next event, or until the block is cleared. */
  encode(): Buffer[] {
    return encodeBlock(this.columns, this.rows);
  }

  clear(): void {
    this.rows = 0;
    this.parts.clear();
  }
}

/**
 * The one place to add a stored column, beside its migration. Half of them are made of objects that many
 * events share, so that an event costs one number for each of these.
 */
function eventColumns(rows: RowParts, ids: Ids): Record<string, Column> {
  const addresses = rows.addresses(ids);
  const userAgents = rows.texts(({ userAgent }) => userAgent);
  const artifacts = rows.shared(({ artifact }) => artifact);
  const origins = rows.shared((_, origin) => origin);
  const clients = rows.shared(({ client }) => client);
  const places = rows.shared(({ place }) => place);
  const networks = rows.shared(({ network }) => network);
  return {
    artifact: artifacts.fixed("UUID", (sink, { id }) => sink.writeBytes(uuidBytes(id))),
    kind: artifacts.fixed("Enum8('package' = 1, 'pixel' = 2)", (sink, { kind }) =>
      sink.writeByte(kind === "package" ? 1 : 2),
    ),
    library_type: artifacts.texts(({ libraryType }) => libraryType),
    time: rows.column(new FixedColumn("DateTime64(3, 'UTC')"), ({ sink }, { time }) =>
      sink.writeUint64(time),
    ),
    unique_key: rows.column(new TextColumn(), (column, { uniqueId, line }, { keyPrefix }) =>
      column.add(uniqueId === "" ? lineKey(keyPrefix, line) : sentKey(uniqueId)),
    ),
    version: rows.column(new FixedColumn("UInt64"), writeVersion),
    import_id: origins.fixed("UUID", (sink, { importId }) => sink.writeBytes(uuidBytes(importId))),
    sign: origins.fixed("Int32", (sink) => sink.writeUint32(1)),
    type: rows.texts(({ type }) => type),
    package_version: rows.texts(({ version }) => version),
    domain: rows.texts(({ domain }) => domain),
    referer: rows.texts(({ referer }) => referer),
    user_agent: userAgents,
    variables: rows.column(new TextMapColumn(), (column, { variables }) => column.add(variables)),
    client: clients.texts(({ client }) => client),
    client_version: clients.texts(({ clientVersion }) => clientVersion),
    platform: clients.texts(({ platform }) => platform),
    origin_id: addresses.ids((endpoints) => ids.origins(endpoints, userAgents.repeat(hashAgent))),
    endpoint_id: addresses.ids((endpoints) => endpoints),
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
    automated: clients.texts(({ automated }) => automated),
  };
}

/** 64 bits: the product passes 2^53, so the halves are written apart. */
function writeVersion({ sink }: FixedColumn, { line }: EnrichedEvent, origin: EventOrigin): void {
  const { receiptStamp, firstLine } = origin;
  const high = Math.floor(receiptStamp / STAMPS);
  sink.writeUint32((receiptStamp - high * STAMPS) * LINES_IN_CHUNK + line - firstLine);
  sink.writeUint32(high);
}

const STAMPS = 2 ** 32 / LINES_IN_CHUNK;

/** The values that all events of a chunk share. */
export interface EventOrigin {
  importId: string;
  /** Names the chunk or import among all: with the line it is the key of an event without `$unique_id`. */
  keyPrefix: string;
  /** Receipt of the chunk in ms: orders the versions of an event. */
  receiptStamp: number;
  /** First line of the chunk, 1-based. */
  firstLine: number;
}

/** The parts of a block that each event adds to: columns, and shared objects that columns are made of. */
class RowParts {
  private readonly parts: RowPart[] = [];

  add(event: EnrichedEvent, origin: EventOrigin): void {
    for (const part of this.parts) part.add(event, origin);
  }

  clear(): void {
    for (const part of this.parts) part.clear();
  }

  column<Kind extends RowColumn>(
    column: Kind,
    add: (column: Kind, event: EnrichedEvent, origin: EventOrigin) => void,
  ): Kind {
    this.parts.push({
      add: (event, origin) => add(column, event, origin),
      clear: () => column.clear(),
    });
    return column;
  }

  addresses(ids: Ids): AddressRows {
    const addresses = new AddressRows(ids);
    this.parts.push({ add: ({ address }) => addresses.add(address), clear: () => addresses.clear() });
    return addresses;
  }

  texts(of: (event: EnrichedEvent) => string): LowCardinalityColumn {
    return this.column(new LowCardinalityColumn(), (column, event) => column.add(of(event)));
  }

  /** Objects that many events share. */
  shared<T extends object>(of: (event: EnrichedEvent, origin: EventOrigin) => T): SharedValues<T> {
    const values = new SharedValues<T>();
    this.parts.push({
      add: (event, origin) => values.add(of(event, origin)),
      clear: () => values.clear(),
    });
    return values;
  }
}

interface RowPart {
  add(event: EnrichedEvent, origin: EventOrigin): void;
  clear(): void;
}
