// Creates a release without uploading it: `npm run release -- VERSION`, or --help. See deploy/docs/contribute/releasing.md.
import { Command } from "commander";
import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import semver from "semver";

process.chdir(join(import.meta.dirname, ".."));

const NAME = "maintainer-toolchain";
const OUT = "build/release";
const CHART = "deploy/chart/Chart.yaml";
const CHANGELOG = "CHANGELOG.md";

/** A reason why the release cannot be created. Its message is printed without a stack. */
class Refusal extends Error {}

const program = new Command("release")
  .argument("<version>", "such as 0.2.0, or 0.2.0-rc.1")
  .option("--dry-run", "check everything and print the steps, without changing anything")
  .option("--without-image", "do not build an image (for machines without Docker)")
  .action(release);

try {
  program.parse();
} catch (error) {
  if (!(error instanceof Refusal)) throw error;
  console.error(`${error.message}\nNothing was released.`);
  process.exitCode = 1;
}

function release(version, { dryRun = false, withoutImage = false }) {
  check(version, { withoutImage });
  const steps = stepsOf(version).filter(({ name }) => !(withoutImage && name === "image"));
  steps.forEach(({ name, says, run }, index) => {
    console.log(`${dryRun ? "would: " : ""}[${index + 1}/${steps.length}] ${name}: ${says}`);
    if (!dryRun) run();
  });
  console.log(
    dryRun
      ? "\nNothing was changed."
      : `\nReleased ${version} here. To upload it:\n${uploads(version, withoutImage)}`,
  );
}

/** Throws before the first change, so that a rejected release changes nothing. */
function check(version, { withoutImage }) {
  const { version: current } = JSON.parse(readFileSync("package.json", "utf8"));
  if (semver.valid(version) !== version)
    throw new Refusal(`${version} is not a valid version. Use one such as 0.2.0.`);
  if (semver.lt(version, current))
    throw new Refusal(`${version} is lower than ${current}, the version in package.json.`);
  const newest = lines("git", "tag", "--list", "v*")
    .filter((tag) => semver.valid(tag) !== null)
    .sort(semver.rcompare)[0];
  if (newest === `v${version}`)
    throw new Refusal(`The tag v${version} already exists. Choose the next version.`);
  if (newest !== undefined && semver.lt(version, newest))
    throw new Refusal(`${version} is lower than the newest tag, ${newest}.`);
  const dirty = lines("git", "status", "--porcelain");
  if (dirty.length > 0) throw new Refusal(`Commit or remove these changes first:\n${dirty.join("\n")}`);
  if (sectionOf(version) === "")
    throw new Refusal(`${CHANGELOG} has no text under \`## [${version}] - Unreleased\`.`);
  if (!withoutImage && spawnSync("docker", ["version"]).status !== 0)
    throw new Refusal("Docker does not respond. Start it, or add --without-image.");
}

function stepsOf(version) {
  return [
    {
      name: "version",
      says: `${version} in package.json, package-lock.json and ${CHART}, dated in ${CHANGELOG}`,
      run: () => setVersion(version),
    },
    { name: "build", says: "npm run build", run: () => must("npm", "run", "--silent", "build") },
    {
      name: "package",
      says: `${OUT}/${NAME}-${version}.tgz, the command without the server`,
      run: packCommand,
    },
    { name: "chart", says: `${OUT}/chart/${NAME}-${version}.tgz`, run: () => packChart(version) },
    {
      name: "image",
      says: `${NAME}:${version} and ${version}-embedded in the local Docker`,
      run: () => buildImages(version),
    },
    { name: "tag", says: `v${version}, with its section of ${CHANGELOG}`, run: () => tag(version) },
  ];
}

/** Creates one commit, or none if the version is already set everywhere. */
function setVersion(version) {
  must("npm", "version", version, "--no-git-tag-version", "--allow-same-version", "--ignore-scripts");
  edit(CHART, (text) => text.replace(/^(version|appVersion): .*$/gm, `$1: ${version}`));
  const today = new Date().toISOString().slice(0, 10);
  edit(CHANGELOG, (text) => text.replace(`## [${version}] - Unreleased`, `## [${version}] - ${today}`));
  if (lines("git", "status", "--porcelain").length === 0) return;
  must("git", "commit", "--quiet", "--all", "--message", `Release ${version}`);
}

function packCommand() {
  rmSync(OUT, { recursive: true, force: true });
  mkdirSync(join(OUT, "chart"), { recursive: true });
  must(process.execPath, "deploy/pack-command.mjs", "build/command");
  must("npm", "pack", "--silent", "./build/command", "--pack-destination", OUT);
}

/** Creates the same archive as `helm package`, but only from committed files. */
function packChart(version) {
  const output = `${OUT}/chart/${NAME}-${version}.tgz`;
  must("git", "archive", "--format=tar.gz", `--prefix=${NAME}/`, `--output=${output}`, "HEAD:deploy/chart");
}

/** Builds an image without stores, and an image with embedded stores. Before version 23, Docker uses BuildKit only with this variable. */
function buildImages(version) {
  const build = ["DOCKER_BUILDKIT=1", "docker", "build", "--file", "deploy/Dockerfile"];
  must("env", ...build, "--tag", `${NAME}:${version}`, ".");
  must("env", ...build, "--target", "embedded", "--tag", `${NAME}:${version}-embedded`, ".");
}

function tag(version) {
  must(
    "git",
    "tag",
    "--annotate",
    `v${version}`,
    "--cleanup=verbatim",
    "--message",
    `${NAME} ${version}\n\n${sectionOf(version)}`,
  );
}

function uploads(version, withoutImage) {
  return [
    `git push origin HEAD v${version}`,
    `npm publish ${OUT}/${NAME}-${version}.tgz`,
    ...(withoutImage ? [] : [version, `${version}-embedded`].map(upload)),
    `helm push ${OUT}/chart/${NAME}-${version}.tgz oci://REGISTRY/charts`,
  ].join("\n");
}

function upload(tag) {
  return `docker tag ${NAME}:${tag} REGISTRY/${NAME}:${tag} && docker push REGISTRY/${NAME}:${tag}`;
}

/** The text below the heading of a version. Empty if the version has no heading. */
function sectionOf(version) {
  const parts = existsSync(CHANGELOG) ? readFileSync(CHANGELOG, "utf8").split(/^## /m) : [];
  const part = parts.find((each) => each.startsWith(`[${version}] - `)) ?? "";
  return part.slice(part.indexOf("\n") + 1).trim();
}

function edit(path, change) {
  writeFileSync(path, change(readFileSync(path, "utf8")));
}

function must(command, ...args) {
  const { status, error } = spawnSync(command, args, { stdio: ["ignore", "ignore", "inherit"] });
  if (status !== 0)
    throw new Refusal(
      `${[command, ...args].join(" ")} failed${error ? `: ${error.message}` : ""}. Fix the problem and ` +
        "run this command again.",
    );
}

function lines(command, ...args) {
  const { status, stdout, stderr } = spawnSync(command, args, { encoding: "utf8" });
  if (status !== 0) throw new Refusal(stderr.trim());
  return stdout.split("\n").filter((line) => line !== "");
}
