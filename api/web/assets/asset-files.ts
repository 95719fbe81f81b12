import { createHash } from "node:crypto";
import { readFileSync, readdirSync } from "node:fs";
import { gzipSync } from "node:zlib";
import type { Middleware } from "koa";
import { assetUrl } from "../../../schemas/asset.js";
import { bytesTag } from "../../base/http/answers/headers.js";
import { FOR_GOOD, type PackedFile, answerFile } from "../../base/http/docs/page-files.js";
import { PUBLIC_HEADERS } from "../../base/http/middleware/browser-security.js";
import type { ApiState } from "../../base/http/route.js";
import { pictures } from "./pictures.js";

/** Names the content of all files: caches keep it for good, and scripts import one another by relative addresses. */
export function assetPath(name: string): string {
  const { hash, files } = assets();
  if (!files.has(name)) throw new Error(`a page loads ${name}, which does not exist`);
  return `/assets/${hash}/${name}`;
}

export function dashboardAssets(): Middleware<ApiState> {
  return async (ctx, next) => {
    const [, hash, name = ""] = /^\/dashboard\/assets\/([^/]+)\/([^/]+)$/.exec(ctx.path) ?? [];
    if (hash === undefined || !["GET", "HEAD"].includes(ctx.method)) return void (await next());
    const file = hash === assets().hash ? assets().files.get(name) : undefined;
    if (file === undefined) return void (await next());
    ctx.set(PUBLIC_HEADERS);
    answerFile(ctx, file, FOR_GOOD);
  };
}

interface Assets {
  hash: string;
  files: ReadonlyMap<string, PackedFile>;
}

let read: Assets | undefined;

/** Read at the first request: most tests of the API load no page. */
function assets(): Assets {
  return (read ??= readAssets());
}

function readAssets(): Assets {
  const scripts = textsIn(SCRIPTS).map(([name, text]) => [name, text.replaceAll(SHARED, '"./$1"')] as const);
  const shared = importedBy(scripts, textsIn(SCHEMAS));
  const texts = [["dashboard.css", styles()] as const, ...textsIn("api/web/assets/"), ...scripts, ...shared];
  const shown = pictures().map(({ name, content }) => [name, content] as const);
  const files = new Map(
    [...texts, ...shown].map(([name, content]) => [name, packed(name, Buffer.from(content))]),
  );
  const all = createHash("sha256");
  for (const { tag } of files.values()) all.update(tag);
  return { hash: all.digest("base64url").slice(0, 12), files };
}

/** In the order of the cascade: where two rules are equally specific, the later one wins. */
const STYLES = [
  "theme",
  "base",
  "frame",
  "menus",
  "panels",
  "numbers",
  "tables",
  "forms",
  "logs",
  "charts",
  "bars",
  "range",
  "first-steps",
  "guide",
  "live",
  "print",
];

function styles(): string {
  return STYLES.map((name) => readFileSync(assetUrl(`api/web/styles/${name}.css`), "utf8")).join("\n");
}

type NamedText = readonly [name: string, text: string];

/** The modules that these texts import, and those that these import in turn. */
function importedBy(texts: readonly NamedText[], modules: readonly NamedText[]): readonly NamedText[] {
  const found = modules.filter(([name]) => texts.some(([, text]) => text.includes(`"./${name}"`)));
  const others = modules.filter((module) => !found.includes(module));
  return found.length === 0 ? [] : [...found, ...importedBy(found, others)];
}

/** As the compiler left them: a checkout whose sources run uncompiled, as in tests, has them there too. */
const SCRIPTS = "dist/api/web/script/";
/** A script may import these modules of the program where they import nothing but one another: they are served beside it. */
const SCHEMAS = "dist/schemas/records/";
const SHARED = /"(?:\.\.\/)+schemas\/records\/([\w-]+\.js)"/g;

function textsIn(folder: string): NamedText[] {
  return readdirSync(assetUrl(folder))
    .filter((name) => extensionOf(name) in TYPES)
    .sort()
    .map((name) => [name, readFileSync(assetUrl(folder + name), "utf8").replace(SOURCE_MAP, "")]);
}

const SOURCE_MAP = /\n\/\/# sourceMappingURL=.*$/;

const TYPES: Readonly<Record<string, string>> = {
  css: "text/css; charset=utf-8",
  png: "image/png",
  js: "text/javascript; charset=utf-8",
  svg: "image/svg+xml",
};

function extensionOf(name: string): string {
  return name.slice(name.lastIndexOf(".") + 1);
}

function packed(name: string, bytes: Buffer): PackedFile {
  const type = TYPES[extensionOf(name)] ?? "application/octet-stream";
  return { type, bytes, gzip: gzipSync(bytes, { level: 9 }), tag: bytesTag(bytes) };
}
