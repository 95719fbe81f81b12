import type { RouteTemplate } from "../routing/route-template.js";
import type { UrlTemplate } from "../routing/url-template.js";

/** What is served on one host name. */
export type Site = FileSite | DockerSite | PythonSite;

/** A file package, on a domain of its own. */
export interface FileSite {
  kind: "file";
  packageId: string;
  ownerId: string;
  /** In the order of `compareRoutes`: the first that matches is the one. */
  routes: readonly SiteRoute[];
}

export interface SiteRoute {
  template: RouteTemplate;
  /** Absent where the route only collects. */
  outgoing?: UrlTemplate;
}

/** Docker packages of one owner and public host; an image is the path below /v2/ that a package serves. */
export interface DockerSite {
  readonly kind: "docker";
  readonly images: ReadonlyMap<string, DockerImage>;
  /** That of the package that was made first; undefined where there is no image. */
  readonly first: DockerImage | undefined;
}

export interface DockerImage {
  packageId: string;
  ownerId: string;
  /** Origin of the registry, such as `https://ghcr.io`. */
  backend: string;
  /** Path of the image there, without a slash at either end. */
  backendPath: string;
}

/** A Python package, on a domain of its own. */
export interface PythonSite {
  kind: "python";
  packageId: string;
  ownerId: string;
  name: string;
  /** Ends in `/`. */
  repositoryUrl: string;
}

/** npm packages by name, whoever owns them; where several owners have one, the earliest created comes first. */
export interface NpmPackages {
  of(name: string): readonly NpmPackage[];
}

export interface NpmPackage {
  packageId: string;
  ownerId: string;
}

/** Pixels by id, lower case. */
export interface Pixels {
  ownerOf(pixelId: string): string | undefined;
}

/** All that live collection serves; read on every request, so it answers from memory. */
export interface Sites {
  /** What is served on a host name; undefined for one that belongs to no package. */
  of(host: string): Site | undefined;
  npm: NpmPackages;
  pixels: Pixels;
}
