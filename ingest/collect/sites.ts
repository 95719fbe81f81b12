import type { LookupFunction } from "node:net";
import type { RouteTemplate, UrlTemplate } from "../../schemas/routing/url-template.js";
import { DAY_MS } from "../../schemas/date-range.js";

export type Site = FileSite | DockerSite | PythonSite;

/** A file package, on a domain of its own. */
export interface FileSite {
  kind: "file";
  packageId: string;
  ownerId: string;
  /** In the order of `compareRoutes`; the first match wins. */
  routes: readonly SiteRoute[];
}

export interface SiteRoute {
  template: RouteTemplate;
  /** Absent where the route only collects. */
  outgoing?: UrlTemplate;
}

/** Docker packages of one owner on one host. The key of an image is its path below /v2/. */
export interface DockerSite {
  readonly kind: "docker";
  readonly images: ReadonlyMap<string, DockerImage>;
  /** The image of the oldest package; undefined when there is none. */
  readonly first: DockerImage | undefined;
}

export interface DockerImage {
  packageId: string;
  ownerId: string;
  /** Origin of the registry, such as `https://ghcr.io`. */
  backend: string;
  /** Path of the image in the registry, without a slash at either end. */
  backendPath: string;
}

/** A Python package, on a domain of its own. */
export interface PythonSite {
  kind: "python";
  packageId: string;
  ownerId: string;
  project: string;
  /** Ends in `/`. */
  repositoryUrl: string;
}

/** npm packages of all owners by name. When several owners have the same name, the oldest package comes first. */
export interface NpmPackages {
  of(name: string): readonly NpmPackage[];
}

export interface NpmPackage {
  packageId: string;
  ownerId: string;
}

/** Python packages of all owners. When an owner has several names that normalise to one, the oldest package has it. */
export interface PythonPackages {
  /** The id of an owner's package with this normalised name. */
  of(ownerId: string, project: string): string | undefined;
}

/** Pixels by id, lower case. */
export interface Pixels {
  ownerOf(pixelId: string): string | undefined;
}

/** Everything that live collection serves. It is read on every request, so it answers from memory. */
export interface Sites {
  of(host: string): Site | undefined;
  /** The images whose `publicUrl` has this host, which may also be the domain of a package. */
  imagesOf(host: string): DockerSite | undefined;
  npm: NpmPackages;
  python: PythonPackages;
  pixels: Pixels;
}

/** Decides which addresses upstreams may have, whose URLs package owners set; see `AddressGuard` of `api/base/outbound`. */
export interface UpstreamGuard {
  /** Why a URL is not allowed, without looking up its name. */
  faultOf(url: string): string | undefined;
  /** Fails when a name resolves to an address that is not allowed. */
  lookup: LookupFunction;
}

/** An upstream whose address is not allowed, or whose answer cannot be used. */
export class UpstreamFailure extends Error {
  override readonly name = "UpstreamFailure";
}

export interface NoteHostsOptions {
  /** Keeps that the host was used today. */
  note: (host: string) => Promise<void>;
  /** Hosts of earlier days, which are noted also once there are too many others. */
  readKnown: () => Promise<ReadonlySet<string>>;
  now: () => number;
  onFailure: (error: unknown) => void;
  hostsMax?: number;
}

/** Callers choose the header `Host`: without a bound they could fill the memory and the table. */
export const NEW_HOSTS_MAX = 1_000;
/** Nothing else can be a package's domain: a full name whose last label is no number. */
const DOMAIN = /^(?=.{3,253}$)(?:[a-z0-9-]{1,63}\.)+(?![0-9]+$)[a-z0-9-]{1,63}$/;
/** Between a failure and the next attempt. */
const RETRY_MS = 60_000;

/**
 * Notes each host once a day, up to a number of hosts, and above it those of earlier days. A host that could not be
 * noted is tried again when it is used.
 */
export function noteHosts({
  note,
  readKnown,
  now,
  onFailure,
  hostsMax = NEW_HOSTS_MAX,
}: NoteHostsOptions): (host: string) => void {
  let day = -1;
  let quietUntil = 0;
  const noted = new Set<string>();
  let known: Promise<ReadonlySet<string>> | undefined;
  const fail = (error: unknown) => {
    quietUntil = now() + RETRY_MS;
    onFailure(error);
  };
  const add = (host: string) => {
    noted.add(host);
    note(host).catch((error: unknown) => {
      noted.delete(host);
      fail(error);
    });
  };
  const addKnown = (hosts: ReadonlySet<string>, host: string) => {
    if (hosts.has(host) && !noted.has(host)) add(host);
  };
  return (host) => {
    if (day !== dayOf(now())) {
      noted.clear();
      known = undefined;
      day = dayOf(now());
    }
    if (noted.has(host) || now() < quietUntil || !DOMAIN.test(host)) return;
    if (noted.size < hostsMax) return add(host);
    known ??= readKnown();
    known.then(
      (hosts) => addKnown(hosts, host),
      (error: unknown) => {
        known = undefined;
        fail(error);
      },
    );
  };
}

function dayOf(time: number): number {
  return Math.floor(time / DAY_MS);
}
