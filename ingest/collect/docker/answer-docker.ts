import { NOTHING, type CollectAnswer, type CollectRequest, type LiveEvent } from "../collect-answer.js";
import type { DockerImage, DockerSite } from "../sites.js";

/**
 * Sends pulls on to the registry that has the image, with the path that was asked for. Errors are as the OCI
 * distribution specification has them. A pull counts when its manifest is fetched: a HEAD only asks what a tag stands
 * for, and blobs that a client already has are never asked for.
 */
export function answerDocker(request: CollectRequest, site: DockerSite): CollectAnswer {
  const { method, path } = request;
  if (!isRegistryPath(path)) return NOTHING;
  if (method !== "GET" && method !== "HEAD") return UNSUPPORTED;
  if (path === "/v2" || path === "/v2/") return redirectToRegistry(request, site);
  const asked = parseImagePath(path);
  const image = asked && site.images.get(asked.name);
  if (asked === undefined || image === undefined) return NAME_UNKNOWN;
  const pulled = method === "GET" && asked.kind === "manifests";
  return redirect(
    `${registryOf(image)}/v2/${image.backendPath}/${asked.kind}/${asked.reference}${queryOf(request)}`,
    pulled ? [pullOf(image, asked.reference)] : [],
  );
}

/** Whether it is one that registries answer, found or not. */
export function isRegistryPath(path: string): boolean {
  return path === "/v2" || path.startsWith("/v2/");
}

/**
 * A client asks `/v2/` for how to log in. Where the images of a host are in several registries only one can tell:
 * that of the image whose package was made first. Clients that log in when a manifest is refused (containerd) do not need it.
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

/** From the end: names have any number of components, and one of them may be `manifests`. */
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

/** Some clients encode the colon of a digest. What is no encoding matches nothing. */
function decoded(component: string): string {
  try {
    return decodeURIComponent(component);
  } catch {
    return "";
  }
}

/**
 * The tag is the version. A digest names one build for one platform; a list of them would tell nobody which version
 * is in use, so an event by digest has none.
 */
function pullOf({ packageId, ownerId }: DockerImage, reference: string): LiveEvent {
  return {
    ownerId,
    artifact: { kind: "package", id: packageId },
    version: TAG.test(reference) ? reference : undefined,
    variables: new Map(),
  };
}

/** Docker Hub's registry is not where its names are: every client knows that `docker.io` is this host. */
const DOCKER_HUB = "https://registry-1.docker.io";
const DOCKER_HUB_NAMES = new Set(
  ["docker.io", "index.docker.io", "hub.docker.com", "registry.hub.docker.com"].map(
    (host) => `https://${host}`,
  ),
);

function registryOf({ backend }: DockerImage): string {
  return DOCKER_HUB_NAMES.has(backend) ? DOCKER_HUB : backend;
}

/** As sent; bytes that no header may hold are escaped. */
function queryOf({ query }: CollectRequest): string {
  const escaped = query.replace(
    /[^\x21-\x7e]/g,
    (byte) => `%${byte.charCodeAt(0).toString(16).toUpperCase().padStart(2, "0")}`,
  );
  return escaped === "" ? "" : `?${escaped}`;
}

const VERSION_HEADER = { "Docker-Distribution-Api-Version": "registry/2.0" };

/** The header beside `Location` tells a redirect of this host from one of the registry's own. */
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
