import { NOTHING, type CollectAnswer, type CollectRequest, type LiveEvent } from "../collect-answer.js";
import type { DockerImage, DockerSite } from "../sites.js";

/**
 * Redirects to the registry that has the image, keeping the path. Errors follow the OCI distribution specification. A
 * pull counts when its manifest is fetched. HEAD only resolves a tag, and clients never request blobs that they have.
 */
export function answerDocker(request: CollectRequest, site: DockerSite): CollectAnswer {
  const { method, path } = request;
  if (!isRegistryPath(path)) return NOTHING;
  if (method !== "GET" && method !== "HEAD") return UNSUPPORTED;
  if (path === "/v2" || path === "/v2/") return redirectToRegistry(request, site);
  const wanted = parseImagePath(path);
  const image = wanted && site.images.get(wanted.name);
  if (wanted === undefined || image === undefined) return NAME_UNKNOWN;
  const pulls = method === "GET" && wanted.kind === "manifests";
  return redirect(
    `${registryOf(image)}/v2/${image.backendPath}/${wanted.kind}/${wanted.reference}${queryOf(request)}`,
    pulls ? [pullOf(image, wanted.reference)] : [],
  );
}

/** Whether a registry would answer this path, found or not. */
export function isRegistryPath(path: string): boolean {
  return path === "/v2" || path.startsWith("/v2/");
}

/**
 * Clients ask `/v2/` how to log in. When the images of a host are in several registries, the registry of the oldest
 * package answers. Clients that log in after a refused manifest (containerd) do not need this.
 */
function redirectToRegistry(request: CollectRequest, { first }: DockerSite): CollectAnswer {
  return first === undefined
    ? NAME_UNKNOWN
    : redirect(`${registryOf(first)}${request.path}${queryOf(request)}`, []);
}

interface ImagePath {
  name: string;
  kind: "manifests" | "blobs" | "tags" | "referrers";
  reference: string;
}

/** Parses from the end, because a name has any number of components and one of them may be `manifests`. */
function parseImagePath(path: string): ImagePath | undefined {
  const parts = path.slice("/v2/".length).split("/").map(decoded);
  const [kind, reference] = parts.slice(-2);
  if (kind === undefined || reference === undefined) return undefined;
  if (!Object.hasOwn(REFERENCES, kind) || !REFERENCES[kind as ImagePath["kind"]].test(reference))
    return undefined;
  return { name: parts.slice(0, -2).join("/"), kind: kind as ImagePath["kind"], reference };
}

const TAG = /^[a-zA-Z0-9_][a-zA-Z0-9._-]{0,127}$/;
const DIGEST = /^[a-z0-9]+(?:[+._-][a-z0-9]+)*:[a-zA-Z0-9=_-]+$/;

/** OCI distribution specification, "Pulling manifests" and following. */
const REFERENCES = {
  manifests: new RegExp(`${TAG.source}|${DIGEST.source}`),
  blobs: DIGEST,
  referrers: DIGEST,
  tags: /^list$/,
} as const satisfies Record<ImagePath["kind"], RegExp>;

/** Some clients encode the colon of a digest. An invalid encoding becomes empty and matches nothing. */
function decoded(component: string): string {
  try {
    return decodeURIComponent(component);
  } catch {
    return "";
  }
}

/** The tag is the version. A digest names one build for one platform, so an event by digest has no version. */
function pullOf({ packageId, ownerId }: DockerImage, reference: string): LiveEvent {
  return {
    ownerId,
    artifact: { kind: "package", id: packageId },
    version: TAG.test(reference) ? reference : undefined,
    variables: new Map(),
  };
}

/** Docker Hub's registry has another host name than its images; every client maps `docker.io` to it. */
const DOCKER_HUB = "https://registry-1.docker.io";
const DOCKER_HUB_NAMES = new Set(
  ["docker.io", "index.docker.io", "hub.docker.com", "registry.hub.docker.com"].map(
    (host) => `https://${host}`,
  ),
);

function registryOf({ backend }: DockerImage): string {
  return DOCKER_HUB_NAMES.has(backend) ? DOCKER_HUB : backend;
}

/** The query as sent, with the bytes escaped that a header must not contain. */
function queryOf({ query }: CollectRequest): string {
  const escaped = query.replace(
    /[^\x21-\x7e]/g,
    (byte) => `%${byte.charCodeAt(0).toString(16).toUpperCase().padStart(2, "0")}`,
  );
  return escaped === "" ? "" : `?${escaped}`;
}

const VERSION_HEADER = { "Docker-Distribution-Api-Version": "registry/2.0" };

/** `X-This-Request-Was-Proxied` distinguishes a redirect of this host from one of the registry. */
function redirect(location: string, events: readonly LiveEvent[]): CollectAnswer {
  return {
    status: 307,
    headers: { ...VERSION_HEADER, Location: location, "X-This-Request-Was-Proxied": "1" },
    events,
  };
}

const NAME_UNKNOWN = refusal(404, "NAME_UNKNOWN", "repository name not known to registry");
const UNSUPPORTED = refusal(405, "UNSUPPORTED", "this host serves pulls only", { Allow: "GET, HEAD" });

function refusal(status: number, code: string, message: string, headers = {}): CollectAnswer {
  const body = JSON.stringify({ errors: [{ code, message }] });
  return {
    status,
    headers: { ...VERSION_HEADER, ...headers, "Content-Type": "application/json" },
    body,
    events: [],
  };
}
