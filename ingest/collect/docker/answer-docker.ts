import {
  NOTHING,
  type CollectAnswer,
  type CollectRequest,
  type LiveEvent,
  type RelayedAnswer,
  type StreamedAnswer,
} from "../read-collect-request.js";
import type { DockerImage, DockerSite } from "../sites.js";
import type { PullCounter } from "./count-pulls.js";
import { isRegistryPath, isRegistryRoot, parseImagePath, type ImagePath } from "./image-path.js";
import { headersForClient, headersForRegistry, type AnswerPlaces } from "../passed-headers.js";
import { TooManyRequests, type RegistryClient } from "./registry-client.js";

export interface ImagePulls {
  registries: RegistryClient;
  counter: PullCounter;
  /** The name under which an address shares the places for requests: with all others of one customer. */
  clientOf: (address: string) => string;
  /** The entry in `Via` that no other collector has (RFC 9110, 7.6.3). */
  via: string;
  onFailure: (error: unknown, url: string) => void;
}

/**
 * Leads to the registry that has the image. Clients that keep their credentials over a redirect are
 * redirected; others, and those that send credentials, get the answer through this host: Go's HTTP client
 * drops `Authorization` on the way to another host, so that crane, skopeo and buildah could not pull what
 * needs a token. Errors follow the OCI distribution specification.
 */
export function answerDocker(
  request: CollectRequest,
  site: DockerSite,
  pulls: ImagePulls,
): CollectAnswer | RelayedAnswer {
  const { method, path } = request;
  if (!isRegistryPath(path)) return NOTHING;
  if (method !== "GET" && method !== "HEAD") return UNSUPPORTED;
  const found = isRegistryRoot(path) ? rootOf(site) : findImage(path, site);
  if (found === undefined) return NAME_UNKNOWN;
  const asked: Asked = { method, url: urlOf(found, request), ...found };
  if (!keepsCredentials(request)) return (signal) => relay(request, { ...asked, pulls, signal });
  return {
    status: 307,
    headers: { ...VERSION_HEADER, Location: asked.url },
    events: eventsOf(request, asked, pulls),
  };
}

interface Found {
  image: DockerImage;
  /** Absent for the root of the registry. */
  wanted?: ImagePath;
}

/**
 * Clients ask `/v2/` how to log in; the registry of the oldest package answers. Those that log in after a
 * refused manifest (containerd) do not need this.
 */
function rootOf({ first }: DockerSite): Found | undefined {
  return first && { image: first };
}

function findImage(path: string, { images }: DockerSite): Found | undefined {
  const wanted = parseImagePath(path);
  const image = wanted && images.get(wanted.name);
  return image && { image, wanted };
}

function urlOf({ image, wanted }: Found, request: CollectRequest): string {
  const path = wanted ? `/v2/${image.backendPath}/${wanted.kind}/${wanted.reference}` : request.path;
  return `${registryOf(image)}${path}${queryOf(request)}`;
}

/** dockerd and containerd log in at the host to which they are redirected. */
function keepsCredentials({ headers }: CollectRequest): boolean {
  const agent = headers["user-agent"] ?? "";
  return headers.authorization === undefined && /^(?:docker|containerd)\//i.test(agent);
}

interface Asked extends Found {
  method: "GET" | "HEAD";
  url: string;
}

/** A request for a manifest that the registry refused is no pull. The end of a redirect by the registry is not known. */
async function relay(
  request: CollectRequest,
  { pulls, signal, ...asked }: Asked & { pulls: ImagePulls; signal: AbortSignal },
): Promise<CollectAnswer | StreamedAnswer> {
  const { method, url } = asked;
  // The registry of the image leads back here, and would until there are no connections left.
  if (request.headers.via?.includes(pulls.via)) return UNAVAILABLE;
  try {
    const { status, headers, body } = await pulls.registries.ask(
      {
        method,
        url,
        client: pulls.clientOf(request.address),
        headers: headersForRegistry(request.headers, pulls.via),
      },
      signal,
    );
    const isGiven = status === 200 || (status >= 301 && status <= 308 && status !== 304);
    return {
      status,
      headers: headersForClient(headers, placesOf(asked)),
      body,
      events: isGiven ? eventsOf(request, asked, pulls) : [],
    };
  } catch (error) {
    if (error instanceof TooManyRequests) return TOO_MANY_REQUESTS;
    if (!signal.aborted) pulls.onFailure(error, url);
    return UNAVAILABLE;
  }
}

function placesOf({ url, image, wanted }: Asked): AnswerPlaces {
  if (wanted === undefined) return { url };
  return { url, path: { here: `/v2/${wanted.name}/`, there: `/v2/${image.backendPath}/` } };
}

function eventsOf(
  { address, headers }: CollectRequest,
  { image, wanted, method }: Asked,
  { counter }: ImagePulls,
): LiveEvent[] {
  if (wanted === undefined) return [];
  const { packageId, ownerId } = image;
  const { "user-agent": agent = "", authorization } = headers;
  const mayRepeat = authorization === undefined && agent.startsWith("containerd/");
  const pull = counter.pullOf({ client: [address, agent, packageId], mayRepeat, method, wanted });
  if (pull === undefined) return [];
  return [{ ownerId, artifact: { kind: "package", id: packageId }, ...pull, variables: new Map() }];
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

const NAME_UNKNOWN = registryError(404, "NAME_UNKNOWN", "repository name not known to registry");
const UNSUPPORTED = registryError(405, "UNSUPPORTED", "this host supports pulls only", {
  Allow: "GET, HEAD",
});
const TOO_MANY_REQUESTS = registryError(
  429,
  "TOOMANYREQUESTS",
  "too many requests to registries are in progress on this host; try again later",
  { "Retry-After": "5" },
);
/** A code of Docker's registry, which the OCI specification does not list. */
const UNAVAILABLE = registryError(502, "UNAVAILABLE", "the registry behind this host does not respond", {
  "Retry-After": "5",
});

/** OCI distribution specification, "Error Codes". */
function registryError(status: number, code: string, message: string, headers = {}): CollectAnswer {
  const body = JSON.stringify({ errors: [{ code, message }] });
  return {
    status,
    headers: { ...VERSION_HEADER, ...headers, "Content-Type": "application/json" },
    body,
    events: [],
  };
}
