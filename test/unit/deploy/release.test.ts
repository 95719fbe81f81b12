import { execFileSync, spawnSync } from "node:child_process";
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";

const TODAY = /\d{4}-\d\d-\d\d/;
const ENV = {
  PATH: process.env["PATH"],
  GIT_CONFIG_GLOBAL: "/dev/null",
  ...Object.fromEntries(
    ["AUTHOR", "COMMITTER"].flatMap((who) => [
      [`GIT_${who}_NAME`, "ada"],
      [`GIT_${who}_EMAIL`, "ada@example.org"],
    ]),
  ),
};

const scratch = mkdtempSync(join(tmpdir(), "release-"));
const model = join(scratch, "model");
let repository: string;
let repositories = 0;

/** A small repository whose program is one file: version 0.1.0, and a changelog with sections for 0.1.0 and 0.2.0. */
beforeAll(() => {
  mkdirSync(join(model, "deploy/chart"), { recursive: true });
  cpSync("deploy/release.mjs", join(model, "deploy/release.mjs"));
  symlinkSync(resolve("node_modules"), join(model, "node_modules"));
  const json = (value: object) => `${JSON.stringify(value, undefined, 2)}\n`;
  const files = {
    ".gitignore": "node_modules\nbuild\n",
    "package.json": json({ name: "maintainer-toolchain", version: "0.1.0", scripts: { build: "true" } }),
    "package-lock.json": json({
      name: "maintainer-toolchain",
      version: "0.1.0",
      lockfileVersion: 3,
      packages: {},
    }),
    "deploy/chart/Chart.yaml": "name: maintainer-toolchain\nversion: 0.1.0\nappVersion: 0.1.0\n",
    "deploy/pack-command.mjs": PACKS,
    "CHANGELOG.md": CHANGES,
  };
  for (const [path, text] of Object.entries(files)) writeFileSync(join(model, path), text);
  git(model, "init", "--quiet");
  git(model, "add", ".");
  git(model, "commit", "--quiet", "--message", "Begin");
});

const PACKS = `import { mkdirSync, writeFileSync } from "node:fs";
mkdirSync(process.argv[2], { recursive: true });
writeFileSync(process.argv[2] + "/package.json", '{"name":"maintainer-toolchain","version":"0.2.0"}');
`;

const CHANGES = `# Changelog

## [0.2.0] - Unreleased

- Counts faster.

## [0.1.0] - Unreleased

- Counts.

## [0.0.9] - Unreleased
`;

beforeEach(() => {
  repository = join(scratch, `repository-${++repositories}`);
  cpSync(model, repository, { recursive: true, verbatimSymlinks: true });
});

afterAll(() => rmSync(scratch, { recursive: true }));

function git(cwd: string, ...args: string[]): string {
  return execFileSync("git", args, { cwd, env: ENV, encoding: "utf8" });
}

/** Without Docker, unless `args` say otherwise. */
function release(...args: string[]): { status: number | null; out: string; err: string } {
  const script = [join(repository, "deploy/release.mjs"), ...args];
  const { status, stdout, stderr } = spawnSync(process.execPath, script, { env: ENV, encoding: "utf8" });
  return { status, out: stdout, err: stderr };
}

const WITHOUT = "--without-image";
const write = (path: string, text: string) => writeFileSync(join(repository, path), text);
const read = (path: string) => readFileSync(join(repository, path), "utf8");

describe("is refused in a sentence, and changes nothing:", () => {
  test.each<[string, string, string, () => void]>([
    ["a version that is none", "0.2", "0.2 is not a valid version. Use one such as 0.2.0.", () => undefined],
    ["a version with a v", "v0.2.0", "v0.2.0 is not a valid version", () => undefined],
    [
      "one below that of package.json",
      "0.0.9",
      "0.0.9 is lower than 0.1.0, the version in package.json",
      () => undefined,
    ],
    [
      "one whose tag exists",
      "0.2.0",
      "The tag v0.2.0 already exists",
      () => void git(repository, "tag", "v0.2.0"),
    ],
    [
      "one below the newest tag",
      "0.2.0",
      "0.2.0 is lower than the newest tag, v0.10.0",
      () => void git(repository, "tag", "v0.10.0"),
    ],
    ["files that are not committed", "0.2.0", "these changes first:\n?? new.ts", () => write("new.ts", "")],
    ["a changelog without a section", "0.3.0", "no text under `## [0.3.0]", () => undefined],
  ])("%s", (_, version, sentence, prepare) => {
    prepare();
    const before = git(repository, "log", "--all", "--format=%H %D");
    const { status, err } = release(version, WITHOUT);
    expect(status).toBe(1);
    expect(err).toContain(sentence);
    expect(err).toMatch(/Nothing was released\.\n$/);
    expect(err).not.toContain("    at ");
    expect(git(repository, "log", "--all", "--format=%H %D")).toBe(before);
    expect(existsSync(join(repository, "build"))).toBe(false);
  });

  test("a section without text", () => {
    write("CHANGELOG.md", CHANGES.replace("- Counts faster.\n", ""));
    git(repository, "commit", "--quiet", "--all", "--message", "Say nothing");
    expect(release("0.2.0", WITHOUT)).toMatchObject({
      status: 1,
      err: expect.stringContaining("no text under") as string,
    });
  });

  test("a missing Docker, unless no image is wanted", () => {
    mkdirSync(join(repository, "build"));
    writeFileSync(join(repository, "build/docker"), "#!/bin/sh\nexit 1\n", { mode: 0o755 });
    const env = { ...ENV, PATH: `${join(repository, "build")}:${ENV.PATH}` };
    const script = join(repository, "deploy/release.mjs");
    const { status, stderr } = spawnSync(process.execPath, [script, "0.2.0"], { env, encoding: "utf8" });
    expect({ status, stderr }).toEqual({
      status: 1,
      stderr: "Docker does not respond. Start it, or add --without-image.\nNothing was released.\n",
    });
  });
});

test("both images are built, by BuildKit also where Docker does not use it by itself", () => {
  const bin = mkdtempSync(join(scratch, "bin-"));
  const says = '#!/bin/sh\n[ "$1" = version ] || echo "BuildKit=$DOCKER_BUILDKIT $*" >> "$0.log"\n';
  writeFileSync(join(bin, "docker"), says, { mode: 0o755 });
  const env = { ...ENV, PATH: `${bin}:${ENV.PATH}` };
  const script = join(repository, "deploy/release.mjs");
  const { status, stdout, stderr } = spawnSync(process.execPath, [script, "0.2.0"], {
    env,
    encoding: "utf8",
  });
  expect(status, stderr).toBe(0);
  expect(stdout).toContain("docker push REGISTRY/maintainer-toolchain:0.2.0-embedded\n");
  expect(readFileSync(join(bin, "docker.log"), "utf8").match(/^BuildKit=1 build .*$/gm)).toEqual([
    expect.stringContaining("--tag maintainer-toolchain:0.2.0 ."),
    expect.stringContaining("--target embedded --tag maintainer-toolchain:0.2.0-embedded ."),
  ]);
});

test("a dry run says each step, and takes none", () => {
  const { status, out } = release("0.2.0", WITHOUT, "--dry-run");
  expect(status).toBe(0);
  expect(out.match(/^would: \[\d\/5\] \w+/gm)).toHaveLength(5);
  expect(out).toMatch(/Nothing was changed\.\n$/);
  expect(git(repository, "status", "--porcelain")).toBe("");
  expect(git(repository, "tag")).toBe("");
});

test("one version is in every file, the archives and the tag; the same command twice is refused by its tag", () => {
  const { status, out, err } = release("0.2.0", WITHOUT);
  expect(status, err).toBe(0);
  for (const path of ["package.json", "package-lock.json"])
    expect(JSON.parse(read(path))).toMatchObject({ version: "0.2.0" });
  expect(read("deploy/chart/Chart.yaml")).toBe(
    "name: maintainer-toolchain\nversion: 0.2.0\nappVersion: 0.2.0\n",
  );
  expect(read("CHANGELOG.md").replace(TODAY, "DAY")).toBe(
    CHANGES.replace("[0.2.0] - Unreleased", "[0.2.0] - DAY"),
  );
  expect(git(repository, "status", "--porcelain")).toBe("");
  expect(git(repository, "tag", "--list", "--format=%(refname:short): %(contents)").trim()).toBe(
    "v0.2.0: maintainer-toolchain 0.2.0\n\n- Counts faster.",
  );
  expect(git(repository, "rev-parse", "v0.2.0^{}")).toBe(git(repository, "rev-parse", "HEAD"));
  const chart = join(repository, "build/release/chart/maintainer-toolchain-0.2.0.tgz");
  expect(execFileSync("tar", ["--list", "--file", chart], { encoding: "utf8" })).toContain(
    "maintainer-toolchain/Chart.yaml\n",
  );
  expect(existsSync(join(repository, "build/release/maintainer-toolchain-0.2.0.tgz"))).toBe(true);
  expect(out).toContain("npm publish build/release/maintainer-toolchain-0.2.0.tgz");
  expect(release("0.2.0", WITHOUT)).toMatchObject({ status: 1 });
});

test("after a step that failed, the mended release goes on where it was", () => {
  write("package.json", read("package.json").replace('"true"', '"test -e mended"'));
  write(".gitignore", `${read(".gitignore")}mended\n`);
  git(repository, "commit", "--quiet", "--all", "--message", "Break the build");
  expect(release("0.2.0", WITHOUT)).toMatchObject({
    status: 1,
    err: expect.stringContaining(
      "npm run --silent build failed. Fix the problem and run this command again.",
    ) as string,
  });
  expect(git(repository, "tag")).toBe("");
  write("mended", "");
  expect(release("0.2.0", WITHOUT).status).toBe(0);
  expect(git(repository, "log", "--format=%s").split("\n")).toEqual([
    "Release 0.2.0",
    "Break the build",
    "Begin",
    "",
  ]);
});
