import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { assetUrl } from "../../../schemas/asset.js";
import { packFile, type PackedFile } from "./packed-file.js";

/** The page and the files that it loads, by name. */
export interface PageFiles {
  page: PackedFile;
  /** Served under `docs/<hash>/<name>`, where content never changes. */
  loaded: ReadonlyMap<string, PackedFile>;
}

/** Reads Swagger UI from its package, and our page around it. */
export async function readPageFiles(): Promise<PageFiles> {
  const packed = FILES.map(async ({ name, type, from }) => {
    const bytes = await readFile(
      from === "swagger-ui" ? join(SWAGGER_UI, name) : assetUrl(`api/http/docs/${name}`),
    );
    return [name, await packFile(type, bytes)] as const;
  });
  const loaded = new Map(await Promise.all(packed));
  const template = await readFile(assetUrl("api/http/docs/index.html"), "utf8");
  const page = template.replace(/\{\{(.+?)\}\}/g, (_, name: string) => addressOf(name, loaded));
  return { page: await packFile("text/html; charset=utf-8", Buffer.from(page)), loaded };
}

/** The hash of the file's content, as used in its address. */
export function hashOf({ tag }: PackedFile): string {
  return tag.slice(1, -1);
}

const SWAGGER_UI = dirname(createRequire(import.meta.url).resolve("swagger-ui-dist/package.json"));
const SCRIPT = "text/javascript; charset=utf-8";
const STYLE = "text/css; charset=utf-8";

const FILES = [
  { name: "swagger-ui.css", type: STYLE, from: "swagger-ui" },
  { name: "swagger-ui-bundle.js", type: SCRIPT, from: "swagger-ui" },
  { name: "favicon-32x32.png", type: "image/png", from: "swagger-ui" },
  { name: "page.css", type: STYLE, from: "here" },
  { name: "initializer.mjs", type: SCRIPT, from: "here" },
] as const;

/** Relative to the page. */
function addressOf(name: string, loaded: PageFiles["loaded"]): string {
  const file = loaded.get(name);
  if (file === undefined) throw new Error(`the page loads ${name}, which does not exist`);
  return `docs/${hashOf(file)}/${name}`;
}
