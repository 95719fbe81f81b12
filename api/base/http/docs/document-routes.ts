import {
  FOR_GOOD,
  type PackedFile,
  type PageFiles,
  answerFile,
  hashOf,
  packFile,
  readPageFiles,
} from "./page-files.js";
import type { OpenApiDocument } from "../openapi/build-document.js";
import type { ApiContext, PublicRoute } from "../route.js";
import { Problem } from "../../../../schemas/problem.js";

/** The OpenAPI document, and a page to browse it and try it out. Both are built at the first request. */
export function documentRoutes(build: () => OpenApiDocument): PublicRoute[] {
  const document = once(() => packFile("application/json", Buffer.from(JSON.stringify(build()))));
  const files = once(readPageFiles);
  return [
    {
      method: "GET",
      path: "/openapi.json",
      operation: {
        id: "getDocument",
        summary: "Get the OpenAPI document",
        answers: {
          200: {
            description: "The document, in OpenAPI 3.1",
            schema: { type: "object", required: ["openapi", "info", "paths"] },
          },
        },
      },
      handle: async (ctx) => answerFile(ctx, await document(), CHECK_FIRST),
    },
    {
      method: "GET",
      path: "/docs",
      operation: {
        id: "getDocsPage",
        summary: "Get the API reference as a page",
        answers: {
          200: { description: "HTML", schema: { type: "string" }, types: ["text/html"] },
          308: { description: "Redirect from `/docs/` to `/docs`" },
        },
      },
      handle: async (ctx) => answerPage(ctx, (await files()).page),
    },
    {
      method: "GET",
      path: "/docs/:hash/:file",
      operation: {
        id: "getDocsFile",
        summary: "Get a file of the API reference page",
        answers: {
          200: {
            description: "The file. It can be cached forever",
            schema: { type: "string" },
            types: ["text/javascript", "text/css", "image/svg+xml"],
          },
        },
      },
      handle: async (ctx) => answerFile(ctx, fileOf(ctx, await files()), FOR_GOOD),
    },
  ];
}

const CHECK_FIRST = "no-cache";

/** Allows only the service's own files. Styles that scripts set do not count as inline. */
const PAGE_POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join("; ");

/** The page's addresses are relative to `/docs`. Below `/docs/` they would be wrong. */
function answerPage(ctx: ApiContext, page: PackedFile): void {
  if (ctx.path.endsWith("/")) {
    ctx.status = 308;
    ctx.set("Location", "../docs");
    return;
  }
  ctx.set("Content-Security-Policy", PAGE_POLICY);
  answerFile(ctx, page, CHECK_FIRST);
}

function fileOf(ctx: ApiContext, { loaded }: PageFiles): PackedFile {
  const { hash, file: name = "" } = ctx["params"] as Record<string, string | undefined>;
  const file = loaded.get(name);
  if (file === undefined || hashOf(file) !== hash)
    throw new Problem("not-found", `Nothing exists at ${ctx.path}.`);
  return file;
}

/** Retries after a failure. */
function once<Made>(make: () => Promise<Made>): () => Promise<Made> {
  let made: Promise<Made> | undefined;
  return () => {
    made ??= make().catch((error: unknown) => {
      made = undefined;
      throw error;
    });
    return made;
  };
}
