import { execFile } from "node:child_process";
import { readFile, symlink } from "node:fs/promises";
import { join, resolve } from "node:path";
import { beforeAll, expect, test } from "vitest";
import { useFolder } from "../../../support/use-folder.js";

const PROGRAM = resolve("dist/deploy/main.js");

const folder = useFolder("binary");
/** As `npm link` leaves it: a symlink that the shell runs. */
const binary = join(folder, "maintainer-toolchain");

beforeAll(() => symlink(PROGRAM, binary));

interface Ended {
  status: number;
  out: string;
  err: string;
}

function run(...args: string[]): Promise<Ended> {
  return runWith({}, ...args);
}

function runWith(variables: NodeJS.ProcessEnv, ...args: string[]): Promise<Ended> {
  return new Promise((end) => {
    execFile(binary, args, { cwd: folder, env: { ...process.env, ...variables } }, (error, out, err) =>
      end({ status: typeof error?.code === "number" ? error.code : 0, out, err }),
    );
  });
}

test("the linked binary lists its commands", async () => {
  const { status, out } = await run("--help");
  expect(status).toBe(0);
  for (const command of ["start", "demo", "import", "admin"])
    expect(out).toMatch(new RegExp(`^  ${command} `, "m"));
});

test("collects garbage on one thread, also as npm's scripts start it", async () => {
  const printFlags = "data:text/javascript,console.log(process.execArgv.join())";
  const { out } = await runWith({ NODE_OPTIONS: `--import=${printFlags}` }, "--help");
  expect(out).toMatch(/^--single-threaded-gc,--max-semi-space-size=4$/m);
  const { scripts } = JSON.parse(await readFile("package.json", "utf8")) as { scripts: object };
  const commands = ["start", "demo", "admin"].map((name) => [name, `exec dist/deploy/main.js ${name}`]);
  expect(scripts).toMatchObject(Object.fromEntries(commands));
});

test("says which version it is", async () => {
  const { version } = JSON.parse(await readFile("package.json", "utf8")) as { version: string };
  expect(await run("--version")).toEqual({ status: 0, out: `${version}\n`, err: "" });
});

test("without a command it prints its help and starts nothing", async () => {
  const { status, err } = await run();
  expect(status).toBe(1);
  expect(err).toContain("Usage: maintainer-toolchain [options] [command]");
});

test("a mistyped command is refused, and the nearest one is named", async () => {
  const { status, err } = await run("strat");
  expect(status).toBe(1);
  expect(err).toContain("unknown command 'strat'");
  expect(err).toContain("Did you mean start?");
});

test.each([
  ["start", "KAFKA_BROKERS"],
  ["import", "--rejected"],
  ["demo", "--exit"],
  ["admin", "list-accounts"],
])("the help of %s is complete, asked for either way", async (command, promised) => {
  const { out } = await run(command, "--help");
  expect(out).toContain(promised);
  expect(await run("help", command)).toEqual({ status: 0, out, err: "" });
});
