import type { LibraryType } from "../../schemas/records/artifact.js";
import { sortRoutes } from "../routing/find-route.js";
import { decodeRouteTemplate } from "../routing/route-template.js";
import { decodeTemplate } from "../routing/url-template.js";
import type { DockerImage, DockerSite, NpmPackage, Site, SiteRoute, Sites } from "./sites.js";

/** A package with what decides where it is served. */
export interface ServedPackage {
  id: string;
  ownerId: string;
  name: string;
  libraryType: LibraryType;
  backendUrl: string | null;
  publicUrl: string | null;
  /** The host of `publicUrl`, where it is reserved for the owner of this package; nothing is served there otherwise. */
  publicHost: string | null;
  repositoryUrl: string | null;
  /** Host names, lower case. */
  domains: readonly string[];
  routes: readonly { templatePath: string; outgoingUrl: string }[];
}

/**
 * All that live collection serves, in memory. One package or pixel is put or removed at a time; what it is asked in
 * between is answered as of then. Ids are UUIDs of version 7: of two packages the one with the smaller id was made first.
 */
export class SiteDirectory implements Sites {
  private readonly packages = new Map<string, ServedPackage>();
  private readonly domains = new Map<string, { packageId: string; site: Site }>();
  private readonly docker = new Map<string, DockerHost>();
  private readonly npmByName = new Map<string, NpmPackage[]>();
  private readonly pixelOwners = new Map<string, string>();

  readonly npm = { of: (name: string) => this.npmByName.get(name) ?? [] };
  readonly pixels = { ownerOf: (pixelId: string) => this.pixelOwners.get(pixelId) };

  of(host: string): Site | undefined {
    return this.domains.get(host)?.site ?? this.docker.get(host);
  }

  get size(): { packages: number; pixels: number } {
    return { packages: this.packages.size, pixels: this.pixelOwners.size };
  }

  putPackage(made: ServedPackage): void {
    this.removePackage(made.id);
    this.packages.set(made.id, made);
    const site = siteOf(made);
    if (site !== undefined)
      for (const name of made.domains) this.domains.set(name, { packageId: made.id, site });
    const { packageId, ownerId } = identityOf(made);
    if (made.libraryType === "npm") insert(this.npmByName, made.name, { packageId, ownerId });
    const front = publicImage(made);
    if (front === undefined) return;
    let at = this.docker.get(front.host);
    // Hosts are reserved: what another owner had there is of before.
    if (at?.ownerId !== ownerId) at = new DockerHost(ownerId);
    this.docker.set(front.host, at);
    at.put(front.path, front.image);
  }

  removePackage(id: string): void {
    const gone = this.packages.get(id);
    if (gone === undefined) return;
    this.packages.delete(id);
    // A domain that went to another package meanwhile is that one's.
    for (const name of gone.domains) if (this.domains.get(name)?.packageId === id) this.domains.delete(name);
    remove(this.npmByName, gone.name, id);
    const front = publicImage(gone);
    if (front === undefined) return;
    const at = this.docker.get(front.host);
    // As a domain, it may be another owner's meanwhile.
    if (at === undefined || at.ownerId !== gone.ownerId) return;
    at.remove(front.path, id);
    if (at.images.size === 0) this.docker.delete(front.host);
  }

  putPixel({ id, ownerId }: { id: string; ownerId: string }): void {
    this.pixelOwners.set(id, ownerId);
  }

  removePixel(id: string): void {
    this.pixelOwners.delete(id);
  }
}

/**
 * What one owner's packages have on a host. Of several with one image the earliest serves it, and the next one when
 * that is gone.
 */
class DockerHost implements DockerSite {
  readonly kind = "docker";
  readonly images = new Map<string, DockerImage>();
  private readonly claims = new Map<string, DockerImage[]>();
  private earliest: DockerImage | undefined;

  constructor(readonly ownerId: string) {}

  /** Looked for once after a change: clients ask for it with each pull. */
  get first(): DockerImage | undefined {
    this.earliest ??= earliestOf(this.images.values());
    return this.earliest;
  }

  put(path: string, image: DockerImage): void {
    insert(this.claims, path, image);
    this.serveFirst(path);
  }

  remove(path: string, packageId: string): void {
    remove(this.claims, path, packageId);
    this.serveFirst(path);
  }

  private serveFirst(path: string): void {
    this.earliest = undefined;
    const first = this.claims.get(path)?.[0];
    if (first === undefined) this.images.delete(path);
    else this.images.set(path, first);
  }
}

function earliestOf(images: Iterable<DockerImage>): DockerImage | undefined {
  let earliest: DockerImage | undefined;
  for (const image of images)
    if (earliest === undefined || image.packageId < earliest.packageId) earliest = image;
  return earliest;
}

function identityOf({ id, ownerId }: ServedPackage): { packageId: string; ownerId: string } {
  return { packageId: id, ownerId };
}

/** What a domain of the package serves. */
function siteOf(made: ServedPackage): Site | undefined {
  const identity = identityOf(made);
  const { libraryType, name, repositoryUrl } = made;
  if (libraryType === "other") return { kind: "file", ...identity, routes: routesOf(made) };
  if (libraryType === "pypi" && repositoryUrl !== null)
    return { kind: "python", ...identity, name, repositoryUrl };
  const image = imageOf(made);
  return image && { kind: "docker", images: new Map([[image.backendPath, image]]), first: image };
}

/** Routes are checked before they are stored: one that cannot be read is of a later version, and not served. */
function routesOf({ routes }: ServedPackage): SiteRoute[] {
  const read = routes.flatMap(({ templatePath, outgoingUrl }): SiteRoute[] => {
    const template = decodeRouteTemplate(templatePath);
    const outgoing = decodeTemplate(outgoingUrl);
    if ("fault" in template || "fault" in outgoing) return [];
    return [outgoingUrl === "" ? { template } : { template, outgoing }];
  });
  return sortRoutes(read);
}

function imageOf(made: ServedPackage): DockerImage | undefined {
  const backend = made.libraryType === "docker" ? urlOf(made.backendUrl) : undefined;
  return backend && { ...identityOf(made), backend: backend.origin, backendPath: pathOf(backend) };
}

function publicImage(made: ServedPackage): { host: string; path: string; image: DockerImage } | undefined {
  const image = imageOf(made);
  const front = urlOf(made.publicUrl);
  return image && front && made.publicHost !== null
    ? { host: made.publicHost, path: pathOf(front), image }
    : undefined;
}

function urlOf(text: string | null): URL | undefined {
  return text !== null && URL.canParse(text) ? new URL(text) : undefined;
}

function pathOf({ pathname }: URL): string {
  return pathname.replace(/^\/+|\/+$/g, "");
}

function insert<Of extends { packageId: string }>(into: Map<string, Of[]>, key: string, one: Of): void {
  const all = [...(into.get(key) ?? []), one];
  into.set(
    key,
    all.sort((a, b) => (a.packageId < b.packageId ? -1 : 1)),
  );
}

function remove<Of extends { packageId: string }>(from: Map<string, Of[]>, key: string, id: string): void {
  const left = (from.get(key) ?? []).filter(({ packageId }) => packageId !== id);
  if (left.length > 0) from.set(key, left);
  else from.delete(key);
}
