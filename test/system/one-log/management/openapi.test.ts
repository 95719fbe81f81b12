import { get as httpGet } from "node:http";
import { gunzipSync } from "node:zlib";
import { buffer } from "node:stream/consumers";
import { Validator } from "@seriousme/openapi-schema-validator";
import { beforeAll, describe, expect, test } from "vitest";
import type { OpenApiDocument } from "../../../../api/base/http/openapi/build-document.js";
import { route } from "../../../../api/base/http/route.js";
import { ALL_ROUTES } from "../../../support/api/all-routes.js";
import { wordedPaths, templateOf } from "../../../../api/base/http/openapi/components.js";
import { type Program, sharedProgram } from "../../../support/program/program.js";
import { api, useApi } from "../../../support/api/use-world.js";

describe("the program", () => {
  let toolchain: Program;

  beforeAll(async () => {
    toolchain = await sharedProgram();
  });

  test("serves a valid OpenAPI 3.1 document, without a token", async () => {
    const answer = await fetch(`${toolchain.api}/openapi.json`);
    expect(answer.status).toBe(200);
    const document = (await answer.json()) as OpenApiDocument;
    const validator = new Validator();
    const { valid, errors } = await validator.validate(structuredClone(document));
    expect([valid, validator.version, errors ?? []]).toEqual([true, "3.1", []]);
  });

  test("describes every route that has an operation", async () => {
    const { paths } = (await (await fetch(`${toolchain.api}/openapi.json`)).json()) as OpenApiDocument;
    const described = ALL_ROUTES.filter(({ operation }) => operation !== undefined);
    const missing = described.filter(
      (each) => !paths[templateOf(wordedPaths(each)[0])]?.[each.method.toLowerCase()],
    );
    expect(missing.map(({ method, path }) => [method, path])).toEqual([]);
  });

  test("serves a page that loads nothing from elsewhere, from files that may be kept for good", async () => {
    const page = await fetch(`${toolchain.api}/docs`);
    expect(page.headers.get("content-type")).toBe("text/html; charset=utf-8");
    const policy = page.headers.get("content-security-policy") ?? "";
    expect(policy).toContain("default-src 'none'");
    expect(policy).not.toMatch(/unsafe|https?:|\*/);
    const html = await page.text();
    expect(html).not.toMatch(/https?:|<script(?![^>]* src=)[^>]*>|<style|\sstyle=|\son\w+=/);
    const loaded = [...html.matchAll(/(?:src|href)="(docs\/[^"]+\/[^"]+)"/g)].map(
      ([, address = ""]) => address,
    );
    expect(loaded.map((address) => address.split("/").at(-1))).toEqual([
      "icon.svg",
      "swagger-ui.css",
      "page.css",
      "icon.svg",
      "swagger-ui-bundle.js",
      "initializer.mjs",
    ]);
    const files = await Promise.all(loaded.map((address) => fetch(new URL(address, page.url))));
    expect(
      files.map(({ status, headers }) => [status, headers.get("content-type"), headers.get("cache-control")]),
    ).toEqual(
      [ICON, STYLE, STYLE, ICON, SCRIPT, SCRIPT].map((type) => [
        200,
        type,
        "public, max-age=31536000, immutable",
      ]),
    );
    expect(await files.at(-1)?.text()).toContain("validatorUrl: null");
  });

  test("sends the page's files compressed", async () => {
    const html = await (await fetch(`${toolchain.api}/docs`)).text();
    const [, bundle = ""] = /src="([^"]+bundle\.js)"/.exec(html) ?? [];
    const { bytes, encoding } = await sentBytes(new URL(`/${bundle}`, toolchain.api));
    expect(encoding).toBe("gzip");
    expect(bytes.length).toBeLessThan(600_000);
    expect(gunzipSync(bytes).toString()).toContain("SwaggerUIBundle");
  });

  test.each(["/docs/old/swagger-ui.css", "/docs/x/..%2F..%2Fpackage.json", "/docs/x"])(
    "has no file at %s",
    async (path) => {
      expect((await fetch(toolchain.api + path)).status).toBe(404);
    },
  );

  test("leads from /docs/ to the page, below whatever prefix", async () => {
    const answer = await fetch(`${toolchain.api}/docs/`, { redirect: "manual" });
    expect([answer.status, answer.headers.get("location")]).toEqual([308, "../docs"]);
  });
});

const ICON = "image/svg+xml";
const STYLE = "text/css; charset=utf-8";
const SCRIPT = "text/javascript; charset=utf-8";

function sentBytes(url: URL): Promise<{ bytes: Buffer; encoding: string | undefined }> {
  return new Promise((resolve, reject) => {
    const request = httpGet(url, { headers: { "accept-encoding": "gzip" }, agent: false }, (response) => {
      const encoding = response.headers["content-encoding"];
      buffer(response).then((bytes) => resolve({ bytes, encoding }), reject);
    });
    request.once("error", reject);
  });
}

describe("an answer that contradicts the document", () => {
  const LIES = route({
    method: "GET",
    path: "/v1/lies",
    action: "packages.list-own",
    operation: {
      id: "lie",
      tag: "Account",
      summary: "Lies",
      answers: { 200: { description: "A number", schema: { type: "number" } } },
    },
    handle: async ({ ctx }) => void (ctx.body = { number: "seven" }),
  });

  useApi(() => ({ routes: [LIES] }));

  test("fails the test that sees it", async () => {
    const token = await api.account("ada");
    await expect(api.call(token, "GET /v1/lies")).rejects.toThrow("against the OpenAPI document");
  });
});
