import type { IndexFile, IndexPage, IndexProject } from "./index-page.js";
import { normalizedName } from "./version-of-file.js";

/** Renders the HTML form (PEP 503) with all links to this host. ASCII only, so that no charset is needed. */
export function renderIndexHtml(page: IndexPage, project: string): string {
  const title = page.kind === "root" ? "" : `<h1>${escaped(project)}</h1>`;
  const lines =
    page.kind === "root" ? page.projects.map(projectLine) : page.files.map((file) => fileLine(file, project));
  return `<!DOCTYPE html><html><body>${title}\n${lines.join("")}</body></html>`;
}

/** Renders the JSON form (PEP 691) with all links to this host. Unknown keys are passed on. */
export function renderIndexJson(page: IndexPage, project: string): string {
  if (page.kind === "root") {
    return JSON.stringify({
      ...page.rest,
      projects: page.projects.map(({ name, rest }) => ({ ...rest, name })),
    });
  }
  return JSON.stringify({
    ...page.rest,
    name: project,
    files: page.files.map(({ filename, rest }) => ({
      hashes: {},
      ...rest,
      filename,
      url: fileLink(project, filename),
    })),
  });
}

/** Project names need no escaping. A page may have hundreds of thousands of them. */
function projectLine({ name }: IndexProject): string {
  return `<a href="/simple/${normalizedName(name)}/">${name}</a><br>\n`;
}

function fileLine({ filename, rest }: IndexFile, project: string): string {
  const link = `${fileLink(project, filename)}${fragmentOf(rest.hashes)}`;
  const attributes = attributesOf(rest).map(([name, value]) => ` ${name}="${escaped(value)}"`);
  return `<a href="${escaped(link)}"${attributes.join("")}>${escaped(filename)}</a><br>\n`;
}

function fileLink(project: string, filename: string): string {
  return `/simple/${project}/${encodeURIComponent(filename)}`;
}

/** The hash that most clients know. */
function fragmentOf(hashes: unknown): string {
  if (typeof hashes !== "object" || hashes === null) return "";
  const known = Object.entries(hashes as Record<string, unknown>);
  const [name, value] = known.find(([each]) => each === "sha256") ?? known[0] ?? [];
  return typeof value === "string" ? `#${name}=${value}` : "";
}

/** PEP 714: repeats the metadata under its old name for older clients. */
function attributesOf(rest: IndexFile["rest"]): [name: string, value: string][] {
  const metadata = metadataValue(rest["core-metadata"] ?? rest["dist-info-metadata"]);
  const { yanked, "gpg-sig": signed, "requires-python": requires } = rest;
  return [
    ...pair("data-requires-python", requires),
    ...pair("data-yanked", yanked === true ? "" : yanked),
    ...pair("data-core-metadata", metadata),
    ...pair("data-dist-info-metadata", metadata),
    ...pair("data-gpg-sig", typeof signed === "boolean" ? String(signed) : undefined),
  ];
}

function pair(name: string, value: unknown): [string, string][] {
  return typeof value === "string" ? [[name, value]] : [];
}

function metadataValue(metadata: unknown): string | undefined {
  if (metadata === true) return "true";
  if (typeof metadata !== "object" || metadata === null) return undefined;
  const [hash] = Object.entries(metadata as Record<string, unknown>);
  return hash === undefined || typeof hash[1] !== "string" ? "true" : `${hash[0]}=${hash[1]}`;
}

const ENTITIES: Readonly<Record<string, string>> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" };

function escaped(text: string): string {
  return text.replace(/[&<>"']|[^\x20-\x7e]/gu, (character) => {
    const point = character.codePointAt(0) ?? 0;
    const half = point >= 0xd800 && point <= 0xdfff;
    return ENTITIES[character] ?? `&#${half ? 0xfffd : point};`;
  });
}
