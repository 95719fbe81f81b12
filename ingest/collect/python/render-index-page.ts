import { createHash } from "node:crypto";
import { type IndexFile, type IndexPage, type IndexProject, normalizedName } from "./index-page.js";

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

type IndexForm = keyof typeof INDEX_TYPES;

/** PEP 691, "Content Types". */
export const INDEX_TYPES = {
  text: "text/html",
  html: "application/vnd.pypi.simple.v1+html",
  json: "application/vnd.pypi.simple.v1+json",
} as const;

/**
 * The form that `Accept` prefers (RFC 9110, 12.5.1). Plain HTML wins among equals and when none is accepted,
 * because older clients send headers that they do not mean.
 */
export function chooseIndexForm(accept: string | undefined): IndexForm {
  const ranges = (accept ?? "").split(",").slice(0, RANGES_MAX).map(parseRange);
  let best: { form: IndexForm; quality: number } = { form: "text", quality: 0 };
  for (const [form, names] of FORMS) {
    const quality = qualityOf(names, ranges);
    if (quality > best.quality) best = { form, quality };
  }
  return best.form;
}

const RANGES_MAX = 50;

/** In order of preference among equals, each with its media types. */
const FORMS: readonly [IndexForm, readonly string[]][] = [
  ["text", [INDEX_TYPES.text]],
  ["json", [INDEX_TYPES.json, "application/vnd.pypi.simple.latest+json"]],
  ["html", [INDEX_TYPES.html, "application/vnd.pypi.simple.latest+html"]],
];

interface MediaRange {
  type: string;
  quality: number;
}

function parseRange(text: string): MediaRange {
  const [type = "", ...parameters] = text.split(";").map((part) => part.trim().toLowerCase());
  const weight = parameters.find((parameter) => parameter.startsWith("q="))?.slice(2) ?? "1";
  return { type, quality: /^(?:0(?:\.\d{0,3})?|1(?:\.0{0,3})?)$/.test(weight) ? Number(weight) : 0 };
}

/** The most specific matching range decides, not the one with the highest weight. */
function qualityOf(names: readonly string[], ranges: readonly MediaRange[]): number {
  const group = names[0]?.replace(/\/.*/, "/*") ?? "";
  for (const exact of [names, [group], ["*/*"]]) {
    const named = ranges.filter(({ type }) => exact.includes(type));
    if (named.length > 0) return Math.max(...named.map(({ quality }) => quality));
  }
  return 0;
}

export interface ServedPage {
  /** Renders the form on first use and caches it. */
  in(form: IndexForm): RenderedPage;
  file(filename: string): IndexFile | undefined;
}

export interface RenderedPage {
  body: Buffer;
  /** Strong, with its quotes. */
  etag: string;
}

/** `project` is the normalised name, or empty for the root page. */
export function servedPage(page: IndexPage, project: string): ServedPage {
  const files = new Map<string, IndexFile>();
  for (const file of page.kind === "project" ? page.files : []) {
    if (!files.has(file.filename)) files.set(file.filename, file);
  }
  const once = {
    html: rendering(() => renderIndexHtml(page, project)),
    json: rendering(() => renderIndexJson(page, project)),
  };
  return {
    in: (form) => once[form === "json" ? "json" : "html"](),
    file: (filename) => files.get(filename),
  };
}

function rendering(render: () => string): () => RenderedPage {
  let rendered: RenderedPage | undefined;
  return () => (rendered ??= withTag(Buffer.from(render())));
}

function withTag(body: Buffer): RenderedPage {
  return { body, etag: `"${createHash("sha256").update(body).digest("base64url")}"` };
}
