import type { CollectRequest } from "../../../../ingest/collect/read-collect-request.js";
import { SiteDirectory, type ServedPackage } from "../../../../ingest/collect/site-directory.js";

/** A request as the server gives it to handlers. */
export function requestOf(target: string, over: Partial<CollectRequest> = {}): CollectRequest {
  const [path = "", ...query] = target.split("?");
  const host = over.host ?? "files.example";
  const none = { headers: {}, address: "192.0.2.1", body: Buffer.alloc(0), method: "GET" };
  return { ...none, target, path, query: query.join("?"), host, ...over };
}

export function packageOf(over: Partial<ServedPackage> = {}): ServedPackage {
  return {
    id: "01990000-0000-7000-8000-000000000001",
    ownerId: "01990000-0000-7000-8000-0000000000aa",
    name: "tool",
    libraryType: "other",
    backendUrl: null,
    publicUrl: null,
    publicHost: null,
    repositoryUrl: null,
    domains: ["files.example"],
    routes: [],
    ...over,
  };
}

export function directoryOf(...packages: ServedPackage[]): SiteDirectory {
  const directory = new SiteDirectory();
  for (const made of packages) directory.putPackage(made);
  return directory;
}
