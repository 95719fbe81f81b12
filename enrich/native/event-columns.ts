import { lineKey, sentKey } from "../../schemas/records/event-id.js";
import type { EnrichedEvent } from "../../schemas/records/enriched-event.js";
import { LINES_IN_CHUNK } from "../../schemas/records/event-version.js";
import {
  FixedColumn,
  LowCardinalityColumn,
  TextColumn,
  TextMapColumn,
  UuidColumn,
  type Column,
} from "./columns.js";

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

/** A column of `events`, and how an event is added to it. */
export interface EventColumn<Kind extends Column = Column> {
  column: Kind;
  add: (column: Kind, event: EnrichedEvent, origin: EventOrigin) => void;
}

/**
 * The stored columns of an event, by name: the one place to add one, beside its migration. Each adds its value itself,
 * in one call: going through a function that reads it took half as long again.
 */
export function eventColumns(): Record<string, EventColumn> {
  return {
    artifact: stored(new UuidColumn(), (uuids, { artifact }) => uuids.add(artifact.id)),
    kind: stored(new FixedColumn("Enum8('package' = 1, 'pixel' = 2)"), ({ sink }, { artifact }) =>
      sink.writeByte(artifact.kind === "package" ? 1 : 2),
    ),
    library_type: stored(texts(), (column, { artifact }) => column.add(artifact.libraryType)),
    time: stored(new FixedColumn("DateTime64(3, 'UTC')"), ({ sink }, { time }) => sink.writeUint64(time)),
    unique_key: stored(new TextColumn(), (column, { uniqueId, line }, { keyPrefix }) =>
      column.add(uniqueId === "" ? lineKey(keyPrefix, line) : sentKey(uniqueId)),
    ),
    version: stored(new FixedColumn("UInt64"), writeVersion),
    import_id: stored(new UuidColumn(), (uuids, _, { importId }) => uuids.add(importId)),
    sign: stored(new FixedColumn("Int32"), ({ sink }) => sink.writeUint32(1)),
    type: stored(texts(), (column, { type }) => column.add(type)),
    package_version: stored(texts(), (column, { version }) => column.add(version)),
    domain: stored(texts(), (column, { domain }) => column.add(domain)),
    referer: stored(texts(), (column, { referer }) => column.add(referer)),
    user_agent: stored(texts(), (column, { userAgent }) => column.add(userAgent)),
    variables: stored(new TextMapColumn(), (column, { variables }) => column.add(variables)),
    client: stored(texts(), (column, { client }) => column.add(client.client)),
    client_version: stored(texts(), (column, { client }) => column.add(client.clientVersion)),
    platform: stored(texts(), (column, { client }) => column.add(client.platform)),
    origin_id: stored(hashes(), (column, { originId }) => writeHash(column, originId)),
    endpoint_id: stored(hashes(), (column, { endpointId }) => writeHash(column, endpointId)),
    latitude: stored(floats(), ({ sink }, { place }) => sink.writeFloat32(place.latitude)),
    longitude: stored(floats(), ({ sink }, { place }) => sink.writeFloat32(place.longitude)),
    country: stored(texts(), (column, { place }) => column.add(place.country)),
    state: stored(texts(), (column, { place }) => column.add(place.state)),
    city: stored(texts(), (column, { place }) => column.add(place.city)),
    postal: stored(texts(), (column, { place }) => column.add(place.postal)),
    company: stored(texts(), (column, { network }) => column.add(network.company)),
    company_domain: stored(texts(), (column, { network }) => column.add(network.companyDomain)),
    connection_type: stored(texts(), (column, { network }) => column.add(network.connectionType)),
    cloud_provider: stored(texts(), (column, { network }) => column.add(network.cloudProvider)),
    cloud_provider_domain: stored(texts(), (column, { network }) => column.add(network.cloudProviderDomain)),
  };
}

/** Keeps the kind of the column for `add`; a list of columns of all kinds does not need it. */
function stored<Kind extends Column>(column: Kind, add: EventColumn<Kind>["add"]): EventColumn {
  return { column, add } as unknown as EventColumn;
}

const texts = () => new LowCardinalityColumn();
const hashes = () => new FixedColumn("FixedString(16)");
const floats = () => new FixedColumn("Float32");

/** 64 bits: the product passes 2^53, so the halves are written apart. */
function writeVersion({ sink }: FixedColumn, { line }: EnrichedEvent, origin: EventOrigin): void {
  const { receiptStamp, firstLine } = origin;
  sink.writeUint32((receiptStamp % STAMPS) * LINES_IN_CHUNK + line - firstLine);
  sink.writeUint32(Math.floor(receiptStamp / STAMPS));
}

const STAMPS = 2 ** 32 / LINES_IN_CHUNK;

function writeHash({ sink }: FixedColumn, hex: string): void {
  if (hex === "") sink.writeZeros(16);
  else sink.writeHex(hex);
}
