import { createHash } from "node:crypto";
import type { IncomingMessage } from "node:http";
import type { CollectReply } from "./collect-client.js";
import { startServer, type StartedServer } from "./start-server.js";

const TOKEN = "a-token";
const INDEX = "application/vnd.oci.image.index.v1+json";
const MANIFEST = "application/vnd.oci.image.manifest.v1+json";

interface Stored {
  mediaType: string;
  digest: string;
  size: number;
  bytes: Buffer;
}

function stored(content: string | object, mediaType = "application/octet-stream"): Stored {
  const bytes = Buffer.from(typeof content === "string" ? content : JSON.stringify(content));
  return { mediaType, digest: digestOf(bytes), size: bytes.length, bytes };
}

function digestOf(bytes: Buffer): string {
  return `sha256:${createHash("sha256").update(bytes).digest("hex")}`;
}

const named = ({ mediaType, digest, size }: Stored) => ({ mediaType, digest, size });

/** A registry with one image for one platform, under any name, that wants to be asked for a token first. */
export async function startRegistry(): Promise<StartedServer> {
  const blobs = ["the config", "one layer", "another"].map((content) => stored(content));
  const [config, ...layers] = blobs.map(named);
  const manifest = stored({ schemaVersion: 2, mediaType: MANIFEST, config, layers }, MANIFEST);
  const index = stored({ schemaVersion: 2, mediaType: INDEX, manifests: [named(manifest)] }, INDEX);
  const all = new Map([manifest, index, ...blobs].map((each) => [each.digest, each]));
  const registry: StartedServer = await startServer((request, response) => {
    const { url = "" } = request;
    if (url.startsWith("/token")) return void response.end(JSON.stringify({ token: TOKEN }));
    if (!isLoggedIn(request)) {
      const challenge = `Bearer realm="${registry.url}/token",service="registry"`;
      return void response.writeHead(401, { "WWW-Authenticate": challenge }).end();
    }
    const reference = url.split("/").at(-1) ?? "";
    const found = url.endsWith("/manifests/1.4.0") ? index : all.get(reference);
    if (found === undefined) return void response.writeHead(404).end();
    response.writeHead(200, { "Content-Type": found.mediaType, "Docker-Content-Digest": found.digest });
    response.end(request.method === "HEAD" ? undefined : found.bytes);
  });
  return registry;
}

function isLoggedIn({ headers }: IncomingMessage): boolean {
  return headers.authorization === `Bearer ${TOKEN}`;
}

interface Pull {
  /** Asks the host in whose name the image is, and follows nothing. */
  call: (method: string, path: string) => Promise<CollectReply>;
  name: string;
  tag: string;
}

interface Pulled {
  config: string;
  layers: string[];
}

/** Pulls as docker does: the token, what the tag stands for, its manifest for the platform, and the blobs, each checked. */
export async function pullImage({ call, name, tag }: Pull): Promise<Pulled> {
  const token = await logIn((await call("GET", "/v2/")).headers.location ?? "");
  const get = async (kind: string, reference: string, method = "GET") => {
    const redirect = await call(method, `/v2/${name}/${kind}/${reference}`);
    if (redirect.status !== 307) throw new Error(`${kind}/${reference} is answered with ${redirect.status}`);
    const headers = { Authorization: `Bearer ${token}` };
    const answer = await fetch(redirect.headers.location ?? "", { method, headers });
    return {
      digest: answer.headers.get("docker-content-digest"),
      bytes: Buffer.from(await answer.arrayBuffer()),
    };
  };
  const getChecked = async (kind: string, digest: string) => {
    const { bytes } = await get(kind, digest);
    if (digestOf(bytes) !== digest) throw new Error(`${kind}/${digest} is something else`);
    return bytes.toString();
  };
  const resolved = await get("manifests", tag, "HEAD");
  const index = await get("manifests", tag);
  if (digestOf(index.bytes) !== resolved.digest) throw new Error("the tag stands for something else by now");
  const { manifests } = JSON.parse(index.bytes.toString()) as { manifests: { digest: string }[] };
  const manifest = JSON.parse(await getChecked("manifests", manifests[0]?.digest ?? "")) as {
    config: { digest: string };
    layers: { digest: string }[];
  };
  return {
    config: await getChecked("blobs", manifest.config.digest),
    layers: await Promise.all(manifest.layers.map(({ digest }) => getChecked("blobs", digest))),
  };
}

async function logIn(registry: string): Promise<string> {
  const challenge = (await fetch(registry)).headers.get("www-authenticate") ?? "";
  const realm = /realm="([^"]+)"/.exec(challenge)?.[1] ?? "";
  const { token } = (await (await fetch(realm)).json()) as { token: string };
  return token;
}
