import {
  methodNotAllowed,
  NOTHING,
  type CollectAnswer,
  type CollectRequest,
  type LiveEvent,
  type StreamedAnswer,
} from "../read-collect-request.js";
import { isSidecarFile } from "../../../schemas/routing/sidecar-files.js";
import type { PythonPackages, PythonSite } from "../sites.js";
import { chooseIndexForm, INDEX_TYPES, type ServedPage } from "./render-index-page.js";
import { isProjectName, type IndexFile, normalizedName, versionOfFile } from "./index-page.js";
import type { PythonIndex } from "./python-index.js";
import { isRefusal } from "./read-upstream-page.js";

interface PythonSources {
  index: PythonIndex;
  packages: PythonPackages;
  /** Aborts when the client has gone. */
  gone: AbortSignal;
}

/**
 * Serves the upstream's simple index: pages with rewritten links, and files as redirects to the upstream. Every project
 * is served, so that pip finds dependencies; only files of the owner's packages count. A download is a GET of a file from
 * its first byte, because installers also read the ends of wheels for their metadata: uv gets these from this host.
 */
export async function answerPython(
  request: CollectRequest,
  site: PythonSite,
  { index, packages, gone }: PythonSources,
): Promise<CollectAnswer | StreamedAnswer> {
  const wanted = parsePath(request.path);
  if (wanted === undefined) return NOTHING;
  if (request.method !== "GET" && request.method !== "HEAD") return methodNotAllowed("GET", "HEAD");
  if ("moved" in wanted) return { status: 301, headers: { Location: wanted.moved }, events: [] };
  const source = { repositoryUrl: site.repositoryUrl, project: wanted.project, ownerId: site.ownerId };
  const page = await index.read(source);
  if (page === "unavailable") return UNAVAILABLE;
  if (isRefusal(page)) return { ...page, events: [] };
  if (wanted.file === undefined) return pageAnswer(request, page);
  const found = findFile(page, wanted.file) ?? (await findAgain(wanted.file, () => index.read(source, NEW)));
  if (found === undefined) return NOTHING;
  const part = partOf(request, found, site);
  const answer = part && (await index.readPart({ ...part, gone }));
  if (answer !== undefined) return answer;
  const packageId = packageOf(wanted.project, site, packages);
  return fileAnswer(request, { ...found, ownerId: site.ownerId, packageId, project: wanted.project });
}

/** The package whose project this is: the site's own, or another of its owner. Undefined for a dependency. */
function packageOf(project: string, site: PythonSite, packages: PythonPackages): string | undefined {
  return project === site.project ? site.packageId : packages.of(site.ownerId, project);
}

const UNAVAILABLE: CollectAnswer = {
  status: 502,
  headers: { "Content-Type": "text/plain", "Retry-After": "5" },
  body: "The package index behind this host does not respond.\n",
  events: [],
};

/** Another process may have served a newer page, with the link that the client now follows. */
const NEW = { ageMsMax: 2_000 };

type IndexPath = { moved: string } | { project: string; file?: string };

/** `project` is normalised, and empty for the root page. Pages end in a slash (PEP 503); others redirect there. */
function parsePath(path: string): IndexPath | undefined {
  const [, simple, name, file, ...more] = path.split("/");
  if (simple !== "simple" || more.length > 0) return undefined;
  if (name === undefined) return { moved: "/simple/" };
  if (name === "" && file === undefined) return { project: "" };
  if (!isProjectName(name)) return undefined;
  const project = normalizedName(name);
  if (file === undefined) return { moved: `/simple/${project}/` };
  return file === "" ? { project } : decodedFile(project, file);
}

function decodedFile(project: string, file: string): IndexPath | undefined {
  try {
    return { project, file: decodeURIComponent(file) };
  } catch {
    return undefined;
  }
}

function pageAnswer({ headers }: CollectRequest, page: ServedPage): CollectAnswer {
  const form = chooseIndexForm(headers.accept);
  const { body, etag } = page.in(form);
  const known = { ETag: etag, "Cache-Control": "no-cache", Vary: "Accept" };
  if (isKnown(etag, headers["if-none-match"])) return { status: 304, headers: known, events: [] };
  return {
    status: 200,
    headers: { ...known, "Content-Type": INDEX_TYPES[form] },
    body,
    events: [],
  };
}

/** RFC 9110, 13.1.2: weak comparison. */
function isKnown(etag: string, ifNoneMatch: string | undefined): boolean {
  const tags = (ifNoneMatch ?? "").split(",").map((tag) => tag.trim().replace(/^W\//, ""));
  return tags.includes(etag) || tags.includes("*");
}

interface Found {
  file: IndexFile;
  /** A file's companion: its core metadata (PEP 658) or its signature (PEP 503). */
  companion?: ".metadata" | ".asc";
}

function findFile(page: ServedPage, name: string): Found | undefined {
  const file = page.file(name);
  if (file !== undefined) return { file };
  for (const companion of [".metadata", ".asc"] as const) {
    const beside = name.endsWith(companion) ? page.file(name.slice(0, -companion.length)) : undefined;
    if (beside !== undefined && has(beside, companion)) return { file: beside, companion };
  }
  return undefined;
}

async function findAgain(
  name: string,
  read: () => ReturnType<PythonIndex["read"]>,
): Promise<Found | undefined> {
  const page = await read();
  return page === "unavailable" || isRefusal(page) ? undefined : findFile(page, name);
}

function has({ rest }: IndexFile, companion: ".metadata" | ".asc"): boolean {
  if (companion === ".asc") return rest["gpg-sig"] === true;
  return Boolean(rest["core-metadata"] ?? rest["dist-info-metadata"]);
}

interface FoundOn extends Found {
  ownerId: string;
  packageId: string | undefined;
  project: string;
}

/**
 * uv does not follow a redirect of a Range, but downloads the whole file for its metadata, and again to install it
 * (astral-sh/uv, crates/uv-client/src/registry_client.rs, `wheel_metadata_no_pep658`). Others follow it.
 */
function partOf(
  { method, headers, address: client }: CollectRequest,
  { file, companion }: Found,
  { ownerId, repositoryUrl }: PythonSite,
) {
  const { range, "user-agent": agent = "" } = headers;
  if (range === undefined || method !== "GET" || companion !== undefined || !/^uv\//i.test(agent))
    return undefined;
  // Over https the client would take it for authentic.
  if (repositoryUrl.startsWith("https:") && !file.url.startsWith("https:")) return undefined;
  return { url: file.url, ownerId, client, range };
}

function fileAnswer(request: CollectRequest, found: FoundOn): CollectAnswer {
  const { file, companion } = found;
  const isFile = companion === undefined && !isSidecarFile(file.filename);
  const counts = isFile && request.method === "GET" && isFromBeginning(request);
  return {
    status: 307,
    headers: { Location: companion === undefined ? file.url : besideUrl(file.url, companion) },
    events: counts ? downloadsOf(found) : [],
  };
}

/**
 * Not of a part that has an end: of a wheel that fits into their first part, pip and uv read all of it for its metadata
 * before they download it (pypa/pip, src/pip/_internal/network/lazy_wheel.py, `_check_zip`).
 */
function isFromBeginning({ headers: { range } }: CollectRequest): boolean {
  return range === undefined || /^bytes=0-$/i.test(range.trim());
}

function besideUrl(url: string, companion: string): string {
  const beside = new URL(url);
  beside.hash = "";
  beside.pathname += companion;
  return beside.href;
}

function downloadsOf({ ownerId, packageId, file, project }: FoundOn): LiveEvent[] {
  if (packageId === undefined) return [];
  return [
    {
      ownerId,
      artifact: { kind: "package", id: packageId },
      version: versionOfFile(file.filename, project),
      variables: new Map(),
    },
  ];
}
