import type { IncomingMessage, RequestListener, ServerResponse } from "node:http";
import { startServer } from "./start-server.js";
import { createHash } from "node:crypto";
import { gzipSync } from "node:zlib";

const TOKEN = "a-token";

export interface ImageRegistry extends AsyncDisposable {
  /** On another host than the collector and the token server, because clients compare hosts. */
  url: string;
  /** The image of this name, which exists as soon as it is asked for. */
  image(name: string): RegistryImage;
  /** Its requests, as `GET /v2/acme/web/manifests/1.4.0 200`, with the user agent. */
  asked: { request: string; userAgent: string }[];
}

/**
 * A registry that behaves as ghcr.io does: it wants a token, which its token server gives to anybody, and redirects to
 * another host for blobs. That one refuses requests with credentials. The tag `single` has the manifest of one platform,
 * tags of signatures have a signature, all other tags have the index. Every manifest has one signature as its referrer.
 */
export async function startRegistry(): Promise<ImageRegistry> {
  const asked: ImageRegistry["asked"] = [];
  const images = new Map<string, RegistryImage>();
  const image = (name: string) => {
    const made = images.get(name) ?? makeImage(name);
    images.set(name, made);
    return made;
  };
  const beside = await startServer(answerBeside(image));
  // By its name: newer clients refuse to be led from one address to another private one.
  const besideUrl = `http://localhost:${beside.port}`;
  const registry = await startServer((request, response) => {
    answer(request, response, { image, besideUrl });
    const { method = "", url = "", headers } = request;
    const userAgent = headers["user-agent"] ?? "";
    asked.push({ request: `${method} ${url.split("?")[0]} ${response.statusCode}`, userAgent });
  }, "127.0.0.2");
  return {
    url: registry.url,
    image,
    asked,
    async [Symbol.asyncDispose]() {
      await registry[Symbol.asyncDispose]();
      await beside[Symbol.asyncDispose]();
    },
  };
}

interface Places {
  image: (name: string) => RegistryImage;
  besideUrl: string;
}

function answer(request: IncomingMessage, response: ServerResponse, { image, besideUrl }: Places): void {
  const path = (request.url ?? "").split("?")[0] ?? "";
  response.setHeader("Docker-Distribution-Api-Version", "registry/2.0");
  const [, name = "", kind, reference = ""] =
    /^\/v2\/(.+)\/(manifests|blobs|referrers)\/([^/]+)$/.exec(path) ?? [];
  if (request.headers.authorization !== `Bearer ${TOKEN}`) {
    const challenge = `Bearer realm="${besideUrl}/token",service="registry",scope="repository:${name}:pull"`;
    const body = JSON.stringify({ errors: [{ code: "UNAUTHORIZED", message: "authentication required" }] });
    const headers = { "WWW-Authenticate": challenge, "Content-Type": "application/json" };
    return void response.writeHead(401, headers).end(body);
  }
  if (path === "/v2/" || path === "/v2") return void response.writeHead(200).end("{}");
  if (kind === undefined) return void response.writeHead(404).end();
  const location = `${besideUrl}/${name}?blob=${reference}`;
  if (kind === "blobs") return void response.writeHead(307, { Location: location }).end();
  const { referrers, ...found } = image(name);
  if (kind === "referrers") return send(request, response, referrers);
  send(request, response, findManifest(found, decodeURIComponent(reference)));
}

function findManifest(
  { all, index, manifest, signature }: Omit<RegistryImage, "referrers">,
  reference: string,
): Stored | undefined {
  if (reference.includes(":")) return all.get(reference);
  if (/^sha256-/.test(reference)) return signature;
  return reference === "single" ? manifest : index;
}

/** The token server, and the store of blobs with signed URLs, which refuses other credentials. */
function answerBeside(image: Places["image"]): RequestListener {
  return (request, response) => {
    const { pathname, searchParams } = new URL(request.url ?? "", "http://localhost");
    if (pathname === "/token")
      return void response.end(JSON.stringify({ token: TOKEN, access_token: TOKEN, expires_in: 300 }));
    if (request.headers.authorization !== undefined) return void response.writeHead(400).end();
    send(request, response, image(pathname.slice(1)).all.get(searchParams.get("blob") ?? ""));
  };
}

function send({ method }: IncomingMessage, response: ServerResponse, found: Stored | undefined): void {
  if (found === undefined) return void response.writeHead(404).end();
  const { mediaType, digest, size, bytes } = found;
  const headers = { "Content-Type": mediaType, "Docker-Content-Digest": digest, "Content-Length": size };
  response.writeHead(200, headers).end(method === "HEAD" ? undefined : bytes);
}

const INDEX = "application/vnd.oci.image.index.v1+json";
const MANIFEST = "application/vnd.oci.image.manifest.v1+json";
const CONFIG = "application/vnd.oci.image.config.v1+json";
const LAYER = "application/vnd.oci.image.layer.v1.tar+gzip";

/** A manifest or a blob. */
interface Stored {
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
  signature: Stored;
  /** The index of what refers to a manifest: the signature. */
  referrers: Stored;
  /** All of the image, by digest. */
  all: ReadonlyMap<string, Stored>;
}

/** An image that every client can unpack, for two platforms. `name` makes its digests its own. */
function makeImage(name: string): RegistryImage {
  const layers = [1, 2].map((blocks) => emptyArchive(blocks));
  const [amd64, arm64] = ["amd64", "arm64"].map((architecture) => forPlatform(name, architecture, layers));
  if (amd64 === undefined || arm64 === undefined) throw new Error("two platforms make two manifests");
  const manifests = [amd64, arm64].map(({ manifest, platform }) => ({ ...named(manifest), platform }));
  const index = stored({ schemaVersion: 2, mediaType: INDEX, manifests }, INDEX);
  const signature = stored({ schemaVersion: 2, mediaType: MANIFEST, annotations: { name } }, MANIFEST);
  const referrers = stored({ schemaVersion: 2, mediaType: INDEX, manifests: [named(signature)] }, INDEX);
  const everything = [
    index,
    signature,
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
    signature,
    referrers,
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
