import { createHash } from "node:crypto";
import { gzipSync } from "node:zlib";

const INDEX = "application/vnd.oci.image.index.v1+json";
const MANIFEST = "application/vnd.oci.image.manifest.v1+json";
const CONFIG = "application/vnd.oci.image.config.v1+json";
const LAYER = "application/vnd.oci.image.layer.v1.tar+gzip";

/** A manifest or a blob. */
export interface Stored {
  mediaType: string;
  digest: string;
  size: number;
  bytes: Buffer;
}

export interface RegistryImage {
  /** For two platforms. */
  index: Stored;
  /** For linux/amd64, out of the index. */
  manifest: Stored;
  config: Stored;
  layers: Stored[];
  /** All of the image, by digest. */
  all: ReadonlyMap<string, Stored>;
}

/** An image that every client can unpack, for two platforms. `name` makes its digests its own. */
export function makeImage(name: string): RegistryImage {
  const layers = [1, 2].map((blocks) => emptyArchive(blocks));
  const [amd64, arm64] = ["amd64", "arm64"].map((architecture) => forPlatform(name, architecture, layers));
  if (amd64 === undefined || arm64 === undefined) throw new Error("two platforms make two manifests");
  const manifests = [amd64, arm64].map(({ manifest, platform }) => ({ ...named(manifest), platform }));
  const index = stored({ schemaVersion: 2, mediaType: INDEX, manifests }, INDEX);
  const everything = [
    index,
    amd64.manifest,
    amd64.config,
    arm64.manifest,
    arm64.config,
    ...layers.map(({ layer }) => layer),
  ];
  return {
    index,
    manifest: amd64.manifest,
    config: amd64.config,
    layers: layers.map(({ layer }) => layer),
    all: new Map(everything.map((each) => [each.digest, each])),
  };
}

interface Archive {
  layer: Stored;
  /** The digest of the archive without compression. */
  diffId: string;
}

/** A tar archive ends with zeros, and may have nothing else. */
function emptyArchive(blocks: number): Archive {
  const tar = Buffer.alloc(blocks * 10_240);
  return { layer: stored(gzipSync(tar), LAYER), diffId: digestOf(tar) };
}

function forPlatform(name: string, architecture: string, layers: readonly Archive[]) {
  const platform = { architecture, os: "linux" };
  const rootfs = { type: "layers", diff_ids: layers.map(({ diffId }) => diffId) };
  const config = stored({ ...platform, config: { Labels: { name } }, rootfs }, CONFIG);
  const content = {
    schemaVersion: 2,
    mediaType: MANIFEST,
    config: named(config),
    layers: layers.map(({ layer }) => named(layer)),
  };
  return { platform, config, manifest: stored(content, MANIFEST) };
}

function stored(content: Buffer | object, mediaType: string): Stored {
  const bytes = Buffer.isBuffer(content) ? content : Buffer.from(JSON.stringify(content));
  return { mediaType, digest: digestOf(bytes), size: bytes.length, bytes };
}

export function digestOf(bytes: Buffer): string {
  return `sha256:${createHash("sha256").update(bytes).digest("hex")}`;
}

function named({ mediaType, digest, size }: Stored) {
  return { mediaType, digest, size };
}
