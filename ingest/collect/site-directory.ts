import type { LibraryType } from "../../schemas/records/artifact.js";
import { sortRoutes } from "../routing/find-route.js";
import { decodeRouteTemplate, decodeTemplate } from "../../schemas/routing/url-template.js";
import { normalizedName } from "./python/index-page.js";
import type { DockerImage, DockerSite, NpmPackage, Site, SiteRoute, Sites } from "./sites.js";

export interface ServedPackage {
  id: string;
  ownerId: string;
  name: string;
  libraryType: LibraryType;
  backendUrl: string | null;
  publicUrl: string | null;
  /** The host of `publicUrl`, if it is reserved for the owner of this package. Otherwise nothing is served there. */
  publicHost: string | null;
  repositoryUrl: string | null;
  /** Host names, lower case. */
  domains: readonly string[];
  routes: readonly { templatePath: string; outgoingUrl: string }[];
  /** False for an npm package whose name an administrator gave to another owner. */
  mayReport?: boolean;
}

/**
 * Everything that live collection serves, in memory. Ids are UUIDs of version 7: the smaller one is older.
 */
export class SiteDirectory implements Sites {
  private readonly packages = new Map<string, ServedPackage>();
  private readonly domains = new Map<string, { packageId: string; site: Site }>();
  private readonly docker = new Map<string, DockerHost>();
  private readonly npmByName = new Map<string, NpmPackage[]>();
  private readonly pythonByName = new Map<string, { packageId: string }[]>();
  private readonly pixelOwners = new Map<string, string>();

  readonly npm = { of: (name: string) => this.npmByName.get(name) ?? [] };
  readonly python = {
    of: (ownerId: string, project: string) =>
      this.pythonByName.get(pythonKey(ownerId, project))?.[0]?.packageId,
  };
  readonly pixels = { ownerOf: (pixelId: string) => this.pixelOwners.get(pixelId) };

  of(host: string): Site | undefined {
    return this.domains.get(host)?.site ?? this.docker.get(host);
  }

  imagesOf(host: string): DockerSite | undefined {
    return this.docker.get(host);
  }

  get size(): { packages: number; pixels: number } {
    return { packages: this.packages.size, pixels: this.pixelOwners.size };
  }

  putPackage(served: ServedPackage): void {
    this.removePackage(served.id);
    this.packages.set(served.id, served);
    const site = siteOf(served);
    if (site !== undefined)
      for (const name of served.domains) this.domains.set(name, { packageId: served.id, site });
    const { packageId, ownerId } = identityOf(served);
    if (served.libraryType === "npm" && served.mayReport !== false)
      insert(this.npmByName, served.name, { packageId, ownerId });
    if (served.libraryType === "pypi") insert(this.pythonByName, pythonKeyOf(served), { packageId });
    const published = publicImage(served);
    if (published === undefined) return;
    let host = this.docker.get(published.host);
    // A host is reserved for one owner. Images of another owner there are out of date.
    if (host?.ownerId !== ownerId) host = new DockerHost(ownerId);
    this.docker.set(published.host, host);
    host.put(published.path, published.image);
  }

  removePackage(id: string): void {
    const removed = this.packages.get(id);
    if (removed === undefined) return;
    this.packages.delete(id);
    // The domain may already belong to another package.
    for (const name of removed.domains)
      if (this.domains.get(name)?.packageId === id) this.domains.delete(name);
    remove(this.npmByName, removed.name, id);
    remove(this.pythonByName, pythonKeyOf(removed), id);
    const published = publicImage(removed);
    if (published === undefined) return;
    const host = this.docker.get(published.host);
    // The host may already belong to another owner.
    if (host === undefined || host.ownerId !== removed.ownerId) return;
    host.remove(published.path, id);
    if (host.images.size === 0) this.docker.delete(published.host);
  }

  putPixel({ id, ownerId }: { id: string; ownerId: string }): void {
    this.pixelOwners.set(id, ownerId);
  }

  removePixel(id: string): void {
    this.pixelOwners.delete(id);
  }
}

/**
 * When several packages claim the same image, the oldest serves it, and after its removal the next oldest.
 */
class DockerHost implements DockerSite {
  readonly kind = "docker";
  readonly images = new Map<string, DockerImage>();
  private readonly claims = new Map<string, DockerImage[]>();
  private earliest: DockerImage | undefined;

  constructor(readonly ownerId: string) {}

  /** Cached until the next change, because clients need it for each pull. */
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

function pythonKeyOf({ ownerId, name }: ServedPackage): string {
  return pythonKey(ownerId, normalizedName(name));
}

function pythonKey(ownerId: string, project: string): string {
  return `${ownerId}\n${project}`;
}

function identityOf({ id, ownerId }: ServedPackage): { packageId: string; ownerId: string } {
  return { packageId: id, ownerId };
}

function siteOf(served: ServedPackage): Site | undefined {
  const identity = identityOf(served);
  const { libraryType, name, repositoryUrl } = served;
  if (libraryType === "other") return { kind: "file", ...identity, routes: routesOf(served) };
  if (libraryType === "pypi" && repositoryUrl !== null)
    return { kind: "python", ...identity, project: normalizedName(name), repositoryUrl };
  const image = imageOf(served);
  return image && { kind: "docker", images: new Map([[image.backendPath, image]]), first: image };
}

/** Routes are validated before they are stored. One that cannot be parsed is from a later version and is left out. */
function routesOf({ routes }: ServedPackage): SiteRoute[] {
  const read = routes.flatMap(({ templatePath, outgoingUrl }): SiteRoute[] => {
    const template = decodeRouteTemplate(templatePath);
    const outgoing = decodeTemplate(outgoingUrl);
    if ("fault" in template || "fault" in outgoing) return [];
    return [outgoingUrl === "" ? { template } : { template, outgoing }];
  });
  return sortRoutes(read);
}

function imageOf(served: ServedPackage): DockerImage | undefined {
  const backend = served.libraryType === "docker" ? urlOf(served.backendUrl) : undefined;
  return backend && { ...identityOf(served), backend: backend.origin, backendPath: pathOf(backend) };
}

function publicImage(served: ServedPackage): { host: string; path: string; image: DockerImage } | undefined {
  const image = imageOf(served);
  const url = urlOf(served.publicUrl);
  return image && url && served.publicHost !== null
    ? { host: served.publicHost, path: pathOf(url), image }
    : undefined;
}

function urlOf(text: string | null): URL | undefined {
  return text !== null && URL.canParse(text) ? new URL(text) : undefined;
}

function pathOf({ pathname }: URL): string {
  return pathname.replace(/^\/+|\/+$/g, "");
}

function insert<Claim extends { packageId: string }>(
  into: Map<string, Claim[]>,
  key: string,
  one: Claim,
): void {
  const all = [...(into.get(key) ?? []), one];
  into.set(
    key,
    all.sort((a, b) => (a.packageId < b.packageId ? -1 : 1)),
  );
}

function remove<Claim extends { packageId: string }>(
  from: Map<string, Claim[]>,
  key: string,
  id: string,
): void {
  const left = (from.get(key) ?? []).filter(({ packageId }) => packageId !== id);
  if (left.length > 0) from.set(key, left);
  else from.delete(key);
}
