import { lineKey, sentKey, LINES_IN_CHUNK } from "../../schemas/records/event-id.js";
import type { EnrichedEvent } from "../../schemas/records/enriched-event.js";
import { FixedColumn, TextColumn, TextMapColumn, type Column } from "./columns.js";
import type { EventOrigin, RowParts } from "./row-parts.js";
import { uuidBytes } from "./uuid-bytes.js";

/**
 * The stored columns of an event, by name: the one place to add one, beside its migration. Half of them are made of
 * objects that many events share, so that an event costs one number for each of these objects.
 */
export function eventColumns(rows: RowParts): Record<string, Column> {
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
    user_agent: rows.texts(({ userAgent }) => userAgent),
    variables: rows.column(new TextMapColumn(), (column, { variables }) => column.add(variables)),
    client: clients.texts(({ client }) => client),
    client_version: clients.texts(({ clientVersion }) => clientVersion),
    platform: clients.texts(({ platform }) => platform),
    origin_id: rows.column(ids(), (column, { originId }) => writeId(column, originId)),
    endpoint_id: rows.column(ids(), (column, { endpointId }) => writeId(column, endpointId)),
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
