// Creates the folder of an npm package that contains the command without the server: `node deploy/pack-command.mjs FOLDER`.
// Copies the files of dist/ that deploy/command.ts imports, directly or indirectly, so build the program first.
import { chmodSync, cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join, resolve } from "node:path";

const ENTRY = "dist/deploy/command.js";
const folder = resolve(process.argv[2] ?? "build/command");

process.chdir(join(import.meta.dirname, ".."));
const root = JSON.parse(readFileSync("package.json", "utf8"));
const { paths, packages } = reachedFrom(ENTRY);

rmSync(folder, { recursive: true, force: true });
for (const path of paths)
  write(path, readFileSync(path, "utf8").replace(/\n\/\/# sourceMappingURL=.*\n?$/, "\n"));
chmodSync(join(folder, ENTRY), 0o755);
write("package.json", `${JSON.stringify(manifest(), undefined, 2)}\n`);
for (const name of ["LICENSE", "NOTICE"]) cpSync(name, join(folder, name));
write("README.md", withoutPageLinks(readFileSync("deploy/docs/reference/command.md", "utf8")));

/** Replaces links to other pages with their text, because the package does not contain these pages. */
function withoutPageLinks(page) {
  return page.replace(/\[([^\]]+)\]\((?!https?:)[^)]+\)/g, "$1");
}

function manifest() {
  const { name, version, description, license, type, engines, dependencies } = root;
  return {
    name,
    version,
    description,
    license,
    type,
    engines,
    bin: { [name]: ENTRY },
    dependencies: Object.fromEntries([...packages].sort().map((each) => [each, dependencies[each]])),
  };
}

/** The compiled files and the packages that a file imports, directly or indirectly. */
function reachedFrom(entry) {
  const paths = new Set([entry]);
  const packages = new Set();
  for (const path of paths)
    for (const from of importsOf(path))
      if (from.startsWith(".")) paths.add(join(dirname(path), from));
      else if (!isBuiltin(from)) packages.add(from);
  return { paths, packages };
}

function importsOf(path) {
  const text = readFileSync(path, "utf8");
  const found = [
    ...text.matchAll(/^(?:import|export)\s(?:[^;"']*?\sfrom\s+)?"([^"]+)"|\bimport\("([^"]+)"\)/gm),
  ];
  return found.map(([, still, loaded]) => still ?? loaded);
}

function isBuiltin(name) {
  return createRequire(import.meta.url).resolve.paths(name) === null;
}

function write(path, text) {
  const target = join(folder, path);
  mkdirSync(dirname(target), { recursive: true });
  writeFileSync(target, text);
}
