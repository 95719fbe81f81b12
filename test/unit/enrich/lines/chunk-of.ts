import { openIds } from "../../../../enrich/lookups/open-ids.js";
import type { Artifact } from "../../../../schemas/records/artifact.js";
import {
  UNKNOWN_CLIENT,
  UNKNOWN_NETWORK,
  UNKNOWN_PLACE,
  type EnrichedEvent,
  type Lookups,
} from "../../../../schemas/records/enriched-event.js";
import { NDJSON } from "../../../../schemas/records/import-format.js";
import type { RawChunk } from "../../../../schemas/records/raw-chunk.js";

export const PACKAGE_ID = "1a2b3c4d-2222-4333-8444-5555555555ab";
export const PIXEL_ID = "9a9b9c9d-8888-4777-8666-5555555555cd";
export const IMPORT_ID = "01990000-0000-7000-8000-0000000000aa";
/** 2023-11-14T22:13:20Z */
export const RECEIVED_AT = 1_700_000_000_000;

export const dockerPackage: Artifact = {
  kind: "package",
  id: PACKAGE_ID,
  ownerId: "01990000-0000-7000-8000-0000000000bb",
  libraryType: "docker",
};

/** A chunk of lines that were sent for the package, as they arrived at `RECEIVED_AT`. */
export function chunkOf(lines: string | Buffer, over: Partial<RawChunk> = {}): RawChunk {
  return {
    source: "import",
    ownerId: dockerPackage.ownerId,
    accountId: "01990000-0000-7000-8000-0000000000cc",
    artifactKind: "package",
    artifactId: PACKAGE_ID,
    importId: IMPORT_ID,
    sequence: 0,
    firstLine: 1,
    receiptStamp: RECEIVED_AT,
    ...NDJSON,
    codec: "none",
    lines: Buffer.from(lines),
    ...over,
  };
}

/** An event of which nothing is known but its artifact and time. */
export function eventOf(over: Partial<EnrichedEvent> = {}): EnrichedEvent {
  return {
    artifact: dockerPackage,
    line: 1,
    uniqueId: "",
    time: RECEIVED_AT,
    type: "image-pull",
    version: "",
    domain: "",
    referer: "",
    userAgent: "",
    address: "",
    country: "",
    variables: [],
    client: UNKNOWN_CLIENT,
    place: UNKNOWN_PLACE,
    network: UNKNOWN_NETWORK,
    ...over,
  };
}

/** Lookups that answer from what they are asked, without any data. */
export const tinyLookups: Lookups = {
  id: "tiny",
  clients: {
    of: (userAgent, reported) => ({
      client: userAgent.split("/")[0] ?? "",
      clientVersion: "1",
      platform: "linux",
      automated: "",
      ...reported,
    }),
  },
  places: { of: (address) => ({ ...UNKNOWN_PLACE, country: address.startsWith("192") ? "NL" : "" }) },
  networks: { of: (address) => ({ ...UNKNOWN_NETWORK, company: address === "" ? "" : "Example" }) },
};

export const ids = openIds(Buffer.alloc(32, "key"));
