import { readdirSync, readFileSync } from "node:fs";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { parse, type Tags } from "yaml";
import {
  parsePackageClient,
  type PackageClient,
} from "../../../../../enrich/lookups/clients/parse-package-client.js";

interface Vector {
  ua: string;
  result: Record<string, unknown> | null;
}

const folder = new URL("../../../../fixtures/user-agents/", import.meta.url);
const vectors = readdirSync(folder)
  .filter((name) => name.endsWith(".yml"))
  .flatMap(
    (name) => parse(readFileSync(new URL(name, folder), "utf8"), { customTags: withoutNumbers }) as Vector[],
  );

/** Versions such as 22.10 stand there without quotes; they are text, and 22.1 is another. */
function withoutNumbers(tags: Tags): Tags {
  return tags.filter((tag) => typeof tag === "string" || !/:(?:int|float)$/.test(tag.tag));
}

/** The form in which the vectors write what was recognised. */
function toResult(client: PackageClient | undefined): unknown {
  const results = {
    installer: () => (client as { details: unknown }).details,
    browser: () => ({ installer: { name: "Browser" } }),
    os: () => ({ installer: { name: "OS" } }),
    unknown: () => null,
  };
  return results[client?.kind ?? "unknown"]();
}

describe("parsePackageClient", () => {
  it("has vectors to be measured by", () => {
    expect(vectors).toHaveLength(17);
  });

  it.each(vectors)("reads all that $ua says", ({ ua, result }) => {
    expect(toResult(parsePackageClient(ua))).toEqual(result);
  });

  const PIP = { installer: { name: "pip", version: "22.0" } };
  const pypy = {
    implementation: { name: "PyPy", version: "7.3" },
    system: { name: "Linux", release: "5.4" },
  };
  it.each([
    ['pip/22.0 {"installer":{"name":"pip"', PIP],
    ["pip/22.0 {}", PIP],
    ["pip/22.0 [1]", PIP],
    ["pip/22.0 null", PIP],
    ['uv/0.5 {"installer":"x","python":null}', { installer: { name: "uv", version: "0.5" } }],
    ["pip/1.4.1 PyPy/7.3 Linux/5.4", { installer: { name: "pip", version: "1.4.1" }, ...pypy }],
  ])("keeps name and version of %s", (ua, details) => {
    expect(parsePackageClient(ua)).toEqual({ kind: "installer", details });
  });

  it("takes a key of JSON for a key, whatever it is called", () => {
    const parsed = parsePackageClient('pip/22.0 {"__proto__":{"polluted":true},"cpu":"arm64"}');
    expect(parsed).toHaveProperty("details.cpu", "arm64");
    expect(({} as { polluted?: boolean }).polluted).toBeUndefined();
    expect(parsed).not.toHaveProperty("details.polluted");
  });

  it("never throws, and reads the same string the same way", () => {
    const products = fc.constantFrom(
      ...["pip/", "uv/", "Python-urllib/", "docker/", "Mozilla/5.0 (", "Debian APT-HTTP/"],
    );
    const text = fc.tuple(products, fc.oneof(fc.string(), fc.json())).map((parts) => parts.join("1.0 "));
    fc.assert(
      fc.property(fc.oneof(fc.string(), text), (userAgent) => {
        expect(parsePackageClient(userAgent)).toEqual(parsePackageClient(userAgent));
      }),
    );
  });

  it.each([
    ["a product", "a/".repeat(500_000)],
    ["a version", `pip/${"1.".repeat(500_000)}`],
    ["brackets", `Mozilla/5.0 (${"(".repeat(500_000)}`],
    ["nesting", `pip/1.0 ${'{"a":'.repeat(200_000)}`],
    ["space", `setuptools/1.0${" ".repeat(500_000)}`],
  ])("looks only at the start of endless %s", (_name, userAgent) => {
    expect(() => parsePackageClient(userAgent)).not.toThrow();
  });
});
