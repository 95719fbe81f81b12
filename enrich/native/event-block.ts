import type { EnrichedEvent } from "../../schemas/records/enriched-event.js";
import { lineKey, sentKey } from "../../schemas/records/event-id.js";
import { LINES_IN_CHUNK } from "../../schemas/records/event-version.js";
import { encodeBlock, FixedColumn, LowCardinalityColumn, TextColumn, TextMapColumn } from "./columns.js";
import { uuidBytes } from "./uuid-bytes.js";

/** What a chunk gives to every one of its events. */
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

/**
 * Collects events as columns of the `events` table and encodes them as one Native block. The columns live as long
 * as the block object: `clear` keeps their memory for the next batch.
 */
export class EventBlock {
  readonly table = "events";
  rows = 0;
  private readonly uuids = new Map<string, Buffer>();
  private readonly columns = {
    artifact: new FixedColumn("UUID"),
    kind: new FixedColumn("Enum8('package' = 1, 'pixel' = 2)"),
    library_type: new LowCardinalityColumn(),
    time: new FixedColumn("DateTime64(3, 'UTC')"),
    unique_key: new TextColumn(),
    version: new FixedColumn("UInt64"),
    import_id: new FixedColumn("UUID"),
    sign: new FixedColumn("Int32"),
    type: new LowCardinalityColumn(),
    package_version: new LowCardinalityColumn(),
    domain: new LowCardinalityColumn(),
    referer: new LowCardinalityColumn(),
    user_agent: new LowCardinalityColumn(),
    variables: new TextMapColumn(),
    client: new LowCardinalityColumn(),
    client_version: new LowCardinalityColumn(),
    platform: new LowCardinalityColumn(),
    origin_id: new FixedColumn("FixedString(16)"),
    endpoint_id: new FixedColumn("FixedString(16)"),
    latitude: new FixedColumn("Float32"),
    longitude: new FixedColumn("Float32"),
    country: new LowCardinalityColumn(),
    state: new LowCardinalityColumn(),
    city: new LowCardinalityColumn(),
    postal: new LowCardinalityColumn(),
    company: new LowCardinalityColumn(),
    company_domain: new LowCardinalityColumn(),
    connection_type: new LowCardinalityColumn(),
    cloud_provider: new LowCardinalityColumn(),
    cloud_provider_domain: new LowCardinalityColumn(),
  };

  /** `INSERT` for the block, naming its columns: the rest have defaults in ClickHouse. */
  get insertQuery(): string {
    return `INSERT INTO events (${Object.keys(this.columns).join(", ")}) FORMAT Native`;
  }

  add(event: EnrichedEvent, origin: EventOrigin): void {
    this.addIdentity(event, origin);
    this.addRequest(event);
    this.addOrigin(event);
    this.rows++;
  }

  encode(): Buffer[] {
    return encodeBlock(this.columns, this.rows);
  }

  clear(): void {
    this.rows = 0;
    this.uuids.clear();
    for (const column of Object.values(this.columns)) column.clear();
  }

  private addIdentity({ artifact, uniqueId, line, time }: EnrichedEvent, origin: EventOrigin): void {
    const { columns } = this;
    columns.artifact.sink.writeBytes(this.uuid(artifact.id));
    columns.kind.sink.writeByte(artifact.kind === "package" ? 1 : 2);
    columns.library_type.add(artifact.libraryType);
    columns.time.sink.writeUint64(time);
    columns.unique_key.add(uniqueId === "" ? lineKey(origin.keyPrefix, line) : sentKey(uniqueId));
    writeVersion(columns.version, origin.receiptStamp, line - origin.firstLine);
    columns.import_id.sink.writeBytes(this.uuid(origin.importId));
    columns.sign.sink.writeUint32(1);
  }

  private addRequest(event: EnrichedEvent): void {
    const { columns } = this;
    columns.type.add(event.type);
    columns.package_version.add(event.version);
    columns.domain.add(event.domain);
    columns.referer.add(event.referer);
    columns.user_agent.add(event.userAgent);
    columns.variables.add(event.variables);
    columns.client.add(event.client.client);
    columns.client_version.add(event.client.clientVersion);
    columns.platform.add(event.client.platform);
  }

  private addOrigin({ originId, endpointId, place, network }: EnrichedEvent): void {
    const { columns } = this;
    writeHash(columns.origin_id, originId);
    writeHash(columns.endpoint_id, endpointId);
    columns.latitude.sink.writeFloat32(place.latitude);
    columns.longitude.sink.writeFloat32(place.longitude);
    columns.country.add(place.country);
    columns.state.add(place.state);
    columns.city.add(place.city);
    columns.postal.add(place.postal);
    columns.company.add(network.company);
    columns.company_domain.add(network.companyDomain);
    columns.connection_type.add(network.connectionType);
    columns.cloud_provider.add(network.cloudProvider);
    columns.cloud_provider_domain.add(network.cloudProviderDomain);
  }

  private uuid(uuid: string): Buffer {
    const known = this.uuids.get(uuid);
    if (known !== undefined) return known;
    const bytes = uuidBytes(uuid);
    this.uuids.set(uuid, bytes);
    return bytes;
  }
}

/** stamp * 2^20 + line as 64 bits; the product passes 2^53, so the halves are written apart. */
function writeVersion(column: FixedColumn, stamp: number, line: number): void {
  const low = (stamp % 4096) * LINES_IN_CHUNK + line;
  column.sink.writeUint32(low);
  column.sink.writeUint32(Math.floor(stamp / 4096));
}

function writeHash(column: FixedColumn, hex: string): void {
  if (hex === "") column.sink.writeZeros(16);
  else column.sink.writeHex(hex);
}
