import { execFile, spawnSync } from "node:child_process";
import { mkdir, readFile, readdir, stat, symlink, writeFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { beforeAll, beforeEach, describe, expect, test } from "vitest";
import { makeOrganization, makePackage } from "../../../support/imports/make-artifacts.js";
import { api, joinProgram, program } from "../../../support/program/use-toolchain.js";
import { useFolder } from "../../../support/use-folder.js";

const folder = useFolder("packed-command");
const modules = join(folder, "node_modules");
const installed = join(modules, "maintainer-toolchain");
const owner = "packed-command";
joinProgram("packed-command-ada");

let manifest: { bin: Record<string, string>; dependencies: Record<string, string> };
/** XDG_CONFIG_HOME of the test. */
let home: string;
let homes = 0;

beforeAll(async () => {
  await makeOrganization(api, owner);
  await makePackage(api, { organization: owner, name: "tool", libraryType: "other" });
  await install();
});

beforeEach(() => {
  home = join(folder, `home-${++homes}`);
});

/** As npm does, in an empty folder: what the package does not depend on is out of its reach. */
async function install(): Promise<void> {
  must(process.execPath, [resolve("deploy/pack-command.mjs"), join(folder, "made")]);
  must("npm", ["pack", "--silent", "./made"]);
  await mkdir(installed, { recursive: true });
  const [archive = ""] = (await readdir(folder)).filter((name) => name.endsWith(".tgz"));
  must("tar", ["--extract", "--file", archive, "--strip-components=1", "--directory", installed]);
  manifest = JSON.parse(await readFile(join(installed, "package.json"), "utf8")) as typeof manifest;
  for (const name of Object.keys(manifest.dependencies))
    await symlink(resolve("node_modules", name), join(modules, name));
}

function must(command: string, args: readonly string[]): void {
  const { status, stderr } = spawnSync(command, args, { cwd: folder, encoding: "utf8" });
  expect(status, stderr).toBe(0);
}

interface Ended {
  status: number;
  out: string;
  err: string;
}

/** The installed command, which knows of the service only what arguments, `env` and the home folder say. */
function run(args: readonly string[], { input = "", env = {} } = {}): Promise<Ended> {
  const { PATH } = process.env;
  const program = join(installed, manifest.bin["maintainer-toolchain"] ?? "");
  return new Promise((end) => {
    const options = { cwd: folder, env: { PATH, XDG_CONFIG_HOME: home, ...env } };
    const child = execFile(program, args, options, (error, out, err) =>
      end({ status: typeof error?.code === "number" ? error.code : 0, out, err }),
    );
    child.stdin?.end(input);
  });
}

const login = () => run(["login", "--url", program.api], { input: `${api.token}\n` });
const saying = (text: string) => expect.stringContaining(text) as string;
const kept = () => join(home, "maintainer-toolchain/sign-in.json");

async function importOne(id: string, ...args: string[]): Promise<Ended> {
  await writeFile(join(folder, "one.ndjson"), `{"$time":"2025-03-10","$unique_id":"${id}"}\n`);
  return run(["import", "one.ndjson", "--to", `${owner}/tool`, ...args]);
}

test("the package has the commands of a running service, its licence, and a version, but no server", async () => {
  const { status, out } = await run(["--help"]);
  expect(status).toBe(0);
  for (const command of ["login", "import", "sources"])
    expect(out).toMatch(new RegExp(`^  ${command} `, "m"));
  for (const command of ["start", "demo", "admin"])
    expect(out).not.toMatch(new RegExp(`^  ${command} `, "m"));
  expect(await readdir(installed)).toEqual(expect.arrayContaining(["LICENSE", "NOTICE", "README.md"]));
  expect(await readFile(join(installed, "README.md"), "utf8")).not.toMatch(/\]\((?!https?:)/);
  const { version } = JSON.parse(await readFile("package.json", "utf8")) as { version: string };
  expect((await run(["--version"])).out).toBe(`${version}\n`);
});

test("the package imports a file, with its own dependencies alone", async () => {
  const ended = await importOne("a", "--url", program.api, "--token", api.token);
  expect(ended).toMatchObject({ status: 0, out: saying("1 event imported, 0 lines rejected."), err: "" });
});

describe("login", () => {
  test("keeps a token that other commands use, in a file that its user alone can read", async () => {
    expect(await login()).toMatchObject({
      status: 0,
      out: `Signed in to ${program.api} as packed-command-ada. The token is in ${kept()}.\n`,
    });
    expect((await stat(kept())).mode & 0o777).toBe(0o600);
    expect(await importOne("b")).toMatchObject({ status: 0, out: saying("1 event imported") });
  });

  test("makes a file of mode 0600 of one that others could read", async () => {
    await mkdir(join(home, "maintainer-toolchain"), { recursive: true });
    await writeFile(kept(), "{}", { mode: 0o644 });
    await login();
    expect((await stat(kept())).mode & 0o777).toBe(0o600);
  });

  test("keeps no token that the service refuses", async () => {
    const ended = await run(["login", "--url", program.api, "--token", "wrong"]);
    expect(ended).toMatchObject({ status: 1, err: saying("--token, MAINTAINER_TOKEN") });
    await expect(stat(kept())).rejects.toThrow("ENOENT");
  });

  test("comes after MAINTAINER_TOKEN, and that after --token", async () => {
    await login();
    const env = { MAINTAINER_TOKEN: "wrong" };
    const args = ["import", "-", "--to", `${owner}/tool`];
    const input = '{"$time":"2025-03-10"}\n';
    expect(await run(args, { input, env })).toMatchObject({ status: 1, err: saying("valid token") });
    expect(await run([...args, "--token", api.token], { input, env })).toMatchObject({ status: 0 });
  });

  test("sends its token to no other service", async () => {
    await login();
    const other = await importOne("c", "--url", "http://127.0.0.1:1");
    expect(other).toMatchObject({
      status: 1,
      err: saying("An API token for http://127.0.0.1:1 is required"),
    });
  });

  test("is forgotten by logout", async () => {
    await login();
    expect(await run(["logout"])).toMatchObject({ status: 0, out: `Removed ${kept()}.\n` });
    expect(await run(["logout"])).toMatchObject({ status: 0, out: "No saved token.\n" });
    const { out } = await run(["logout", "--json"]);
    expect(JSON.parse(out)).toEqual({ file: kept(), removed: false });
    const ended = await importOne("d", "--url", program.api);
    expect(ended).toMatchObject({ status: 1, err: saying("is required: use --token TOKEN") });
  });
});

describe("without a browser", () => {
  const env = () => ({ MAINTAINER_URL: program.api, MAINTAINER_TOKEN: api.token });
  const range = ["--from", "2025-04-10", "--until", "2025-04-11"];

  beforeAll(async () => {
    const line = '{"$time":"2025-04-10","$unique_id":"n","$country":"DE","$version":"1.4"}\n';
    await run(["import", "-", "--to", `${owner}/tool`], { input: line, env: env() });
  });

  test("packages are listed, as text and as JSON", async () => {
    expect((await run(["packages", owner], { env: env() })).out).toBe(`${owner}/tool  other\n`);
    const { out } = await run(["packages", owner, "--json"], { env: env() });
    expect(JSON.parse(out)).toMatchObject({ owner, name: "tool" });
  });

  test("stats are totals and days, or the rows of a list", async () => {
    const { out } = await run(["stats", `${owner}/tool`, ...range], { env: env() });
    expect(out).toMatch(/^2025-04-10 to 2025-04-10 \(UTC\): 1 download, .*\n2025-04-10 +1\n$/);
    const rows = await run(["stats", owner, ...range, "--by", "country"], { env: env() });
    expect(rows.out).toBe("            1  100.0 %  DE\n");
    const mistyped = await run(["stats", `${owner}/tol`, ...range], { env: env() });
    expect(mistyped).toMatchObject({ status: 1, err: saying("Did you mean tool?") });
  });

  test("an export goes to standard output or a file, and needs the right to it", async () => {
    const asked = ["export", `${owner}/tool`, ...range];
    expect(await run(asked, { env: env() })).toMatchObject({ status: 1, out: "" });
    await program.admin("grant-export", owner);
    expect((await run(asked, { env: env() })).out).toContain('"breakdown":"country"');
    await run([...asked, "--events", "--format", "csv", "--output", "events.csv"], { env: env() });
    expect((await readFile(join(folder, "events.csv"), "utf8")).split("\n")).toHaveLength(3);
  });
});
