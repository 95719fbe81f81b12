import { execFile } from "node:child_process";
import {
  appendFile,
  chmod,
  cp,
  mkdir,
  mkdtemp,
  readFile,
  rm,
  stat,
  symlink,
  utimes,
  writeFile,
} from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from "vitest";

/** A checkout with two sources in place of the program's, built once and copied for each test. */
let built: string;
let checkout: string;
const at = (path: string) => join(checkout, path);
const FILES = ["deploy/build.mjs", "package-lock.json", "tsconfig.build.json", "package.json"];
/** Without the declarations of Node, which take the compiler a second to read. */
const SETTINGS = { compilerOptions: { target: "ES2022", module: "NodeNext", types: [], lib: ["ES5"] } };

beforeAll(async () => {
  built = checkout = await mkdtemp(join(tmpdir(), "built-"));
  for (const file of FILES) await cp(file, at(file));
  await writeFile(at("tsconfig.json"), JSON.stringify(SETTINGS));
  await symlink(resolve("node_modules"), at("node_modules"));
  await writeFile(at("deploy/main.ts"), "export const answer: number = 1;\n");
  await writeFile(at("deploy/other.ts"), "export const other = true;\n");
  expect(await build()).toBe(0);
});

beforeEach(async () => {
  checkout = await mkdtemp(join(tmpdir(), "build-"));
  await cp(built, checkout, { recursive: true });
});

afterEach(() => rm(checkout, { recursive: true, force: true }));
afterAll(() => rm(built, { recursive: true, force: true }));

function build(): Promise<number> {
  return new Promise((end) => {
    execFile(process.execPath, [at("deploy/build.mjs"), "--if-changed"], (error) =>
      end(typeof error?.code === "number" ? error.code : 0),
    );
  });
}

const builtAt = async () => (await stat(at("dist/.source-digest"))).mtimeMs;

test("makes a program that can be run", async () => {
  expect((await stat(at("dist/deploy/main.js"))).mode & 0o777).toBe(0o755);
});

test("writes nothing for a copy of the same sources with other times", async () => {
  const before = await builtAt();
  await chmod(at("dist"), 0o555);
  await utimes(at("deploy/main.ts"), new Date(), new Date());
  expect(await build()).toBe(0);
  expect(await builtAt()).toBe(before);
  await chmod(at("dist"), 0o755);
});

test("compiles what changed, and leaves no file of a source that is gone", async () => {
  await writeFile(at("deploy/main.ts"), "export const answer: number = 2;\n");
  await rm(at("deploy/other.ts"));
  expect(await build()).toBe(0);
  expect(await readFile(at("dist/deploy/main.js"), "utf8")).toContain("answer = 2");
  await expect(stat(at("dist/deploy/other.js"))).rejects.toThrow("ENOENT");
});

test("compiles without optional packages, as the image does", async () => {
  await rm(at("node_modules"));
  await cp("node_modules/ffi-rs", at("node_modules/ffi-rs"), { recursive: true });
  await symlink(resolve("node_modules/typescript"), at("node_modules/typescript"));
  await writeFile(at("deploy/main.ts"), "export const answer: number = 3;\n");
  expect(await build()).toBe(0);
  expect(await readFile(at("dist/deploy/main.js"), "utf8")).toContain("answer = 3");
});

test("makes again what is missing in dist", async () => {
  await rm(at("dist/deploy/other.js"));
  expect(await build()).toBe(0);
  await stat(at("dist/deploy/other.js"));
});

test("a build that failed does not pass for one of the sources before it", async () => {
  const source = await readFile(at("deploy/main.ts"), "utf8");
  await writeFile(at("deploy/main.ts"), "export const answer: number = ;\n");
  expect(await build()).not.toBe(0);
  await writeFile(at("deploy/main.ts"), source);
  expect(await build()).toBe(0);
  expect(await readFile(at("dist/deploy/main.js"), "utf8")).toContain("answer = 1");
});

test("compiles again when the build itself changed", async () => {
  const before = await builtAt();
  await appendFile(at("deploy/build.mjs"), "// another build\n");
  expect(await build()).toBe(0);
  expect(await builtAt()).toBeGreaterThan(before);
});

test("two builds at once compile once, and both end when it is done", async () => {
  await useCompiler(`
    import { appendFileSync, cpSync, mkdirSync } from "node:fs";
    appendFileSync("compiler.log", "begins,");
    mkdirSync("dist/deploy", { recursive: true });
    setTimeout(() => {
      for (const name of ["main", "other"]) cpSync("deploy/main.ts", \`dist/deploy/\${name}.js\`);
      appendFileSync("compiler.log", "ends");
    }, 200);`);
  await rm(at("dist"), { recursive: true });
  expect(await Promise.all([build(), build()])).toEqual([0, 0]);
  expect(await readFile(at("compiler.log"), "utf8")).toBe("begins,ends");
});

/** Puts a program in the place of TypeScript's compiler. */
async function useCompiler(source: string): Promise<void> {
  await rm(at("node_modules"));
  await mkdir(at("node_modules/typescript/bin"), { recursive: true });
  await symlink(resolve("node_modules/ffi-rs"), at("node_modules/ffi-rs"));
  await writeFile(at("node_modules/typescript/package.json"), '{ "type": "module" }');
  await writeFile(at("node_modules/typescript/bin/tsc"), source);
}
