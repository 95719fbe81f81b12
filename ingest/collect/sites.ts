import type { RouteTemplate } from "../routing/route-template.js";
import type { UrlTemplate } from "../routing/url-template.js";

/** A host name of live collection. */
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
  /** Its normalised name. */
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
  /** The site of a host name; undefined when the host belongs to no package. */
  of(host: string): Site | undefined;
  /** The images whose `publicUrl` has this host, which may also be the domain of a package. */
  imagesOf(host: string): DockerSite | undefined;
  npm: NpmPackages;
  python: PythonPackages;
  pixels: Pixels;
}
