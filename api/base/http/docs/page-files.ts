import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { assetUrl } from "../../../../schemas/asset.js";
import { promisify } from "node:util";
import { gzip } from "node:zlib";
import { bytesTag } from "../answers/headers.js";
import type { ApiContext } from "../route.js";

export interface PageFiles {
  page: PackedFile;
  /** Served under `docs/<hash>/<name>`, where content never changes. */
  loaded: ReadonlyMap<string, PackedFile>;
}

/** Swagger UI from its package, and our page around it. */
export async function readPageFiles(): Promise<PageFiles> {
  const packed = FILES.map(async ({ name, type, from }) => {
    const bytes = await readFile(
      from === "swagger-ui" ? join(SWAGGER_UI, name) : assetUrl(`api/${from}/${name}`),
    );
    return [name, await packFile(type, bytes)] as const;
  });
  const loaded = new Map(await Promise.all(packed));
  const template = await readFile(assetUrl("api/base/http/docs/index.html"), "utf8");
  const page = template.replace(/\{\{(.+?)\}\}/g, (_, name: string) => addressOf(name, loaded));
  return { page: await packFile("text/html; charset=utf-8", Buffer.from(page)), loaded };
}

export function hashOf({ tag }: PackedFile): string {
  return tag.slice(1, -1);
}

const SWAGGER_UI = dirname(createRequire(import.meta.url).resolve("swagger-ui-dist/package.json"));
const SCRIPT = "text/javascript; charset=utf-8";
const STYLE = "text/css; charset=utf-8";

const FILES = [
  { name: "swagger-ui.css", type: STYLE, from: "swagger-ui" },
  { name: "swagger-ui-bundle.js", type: SCRIPT, from: "swagger-ui" },
  { name: "icon.svg", type: "image/svg+xml", from: "web/assets" },
  { name: "page.css", type: STYLE, from: "base/http/docs" },
  { name: "initializer.mjs", type: SCRIPT, from: "base/http/docs" },
] as const;

/** Relative to the page. */
function addressOf(name: string, loaded: PageFiles["loaded"]): string {
  const file = loaded.get(name);
  if (file === undefined) throw new Error(`the page loads ${name}, which does not exist`);
  return `docs/${hashOf(file)}/${name}`;
}

export interface PackedFile {
  type: string;
  bytes: Buffer;
  gzip: Buffer;
  /** Strong ETag of `bytes`. */
  tag: string;
}

export async function packFile(type: string, bytes: Buffer): Promise<PackedFile> {
  return { type, bytes, gzip: await promisify(gzip)(bytes), tag: bytesTag(bytes) };
}

/** For addresses that name the content. */
export const FOR_GOOD = "public, max-age=31536000, immutable";

/** Answers with a file that every cache may store. `cacheControl` says for how long. */
export function answerFile(
  ctx: ApiContext,
  { type, bytes, gzip, tag }: PackedFile,
  cacheControl: string,
): void {
  const isSmaller = gzip.length < bytes.length * WORTH_IT;
  const packed = isSmaller && ctx.acceptsEncodings("gzip", "identity") === "gzip";
  if (packed) ctx.set("Content-Encoding", "gzip");
  ctx.set({ ETag: tag, "Cache-Control": cacheControl });
  ctx.type = type;
  ctx.body = packed ? gzip : bytes;
}

/** Files that are already compressed, such as pictures, shrink by less than this. */
const WORTH_IT = 0.9;
