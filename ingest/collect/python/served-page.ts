import { createHash } from "node:crypto";
import type { IndexForm } from "./choose-index-form.js";
import type { IndexFile, IndexPage } from "./index-page.js";
import { renderIndexHtml, renderIndexJson } from "./render-index-page.js";

/** A page of an index as this host serves it. */
export interface ServedPage {
  /** Renders the form on first use and caches it. */
  in(form: IndexForm): RenderedPage;
  /** A file of the page; the root page has none. */
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
