import { execFileSync, spawnSync } from "node:child_process";
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";

let copy: string;

beforeAll(() => {
  copy = mkdtempSync(join(tmpdir(), "architecture-tasks-"));
  const files = execFileSync("git", ["ls-files"], { encoding: "utf8" }).trim().split("\n");
  for (const file of files) cpSync(file, join(copy, file));
  symlinkSync(join(process.cwd(), "node_modules"), join(copy, "node_modules"));
  // Tests of the pages ask git which there are.
  execFileSync("git", ["init", "-q"], { cwd: copy });
  execFileSync("git", ["add", "--all"], { cwd: copy });
});

afterAll(() => rmSync(copy, { recursive: true, force: true }));

/** The files that the row of the architecture page with this task names. */
function filesOf(task: string): string[] {
  const row = readFileSync("deploy/docs/contribute/architecture.md", "utf8")
    .split("\n")
    .find((line) => line.startsWith(`| ${task} |`));
  return [...(row ?? "").matchAll(/`([^`]+\/[^`]*)`/g)].map(([, file = ""]) => file);
}

/** Inserts a text after another one, or creates a file. */
type Edit = readonly [file: string, after: string | null, added: string];

const FILES_MAX = 4;

/** Makes the change. It must touch exactly the files of the row, where a new file stands as its folder. */
function perform(task: string, edits: readonly Edit[]): void {
  const touched = new Set(edits.map(([file, after]) => (after === null ? `${dirname(file)}/` : file)));
  expect([...touched].sort()).toEqual(filesOf(task).sort());
  expect(touched.size).toBeLessThanOrEqual(FILES_MAX);
  for (const [file, after, added] of edits) {
    if (after === null) {
      writeFileSync(join(copy, file), added);
      continue;
    }
    const text = readFileSync(join(copy, file), "utf8");
    expect(text.split(after), `${file} has it once`).toHaveLength(2);
    writeFileSync(
      join(copy, file),
      text.replace(after, () => after + added),
    );
  }
}

/** What the command says when it fails; nothing when it succeeds. */
function failureOf(command: string, ...args: string[]): string {
  const [program, ...rest] = command === "npm" ? [command, ...args] : ["npx", command, ...args];
  const { status, stdout, stderr } = spawnSync(program, rest, { cwd: copy, encoding: "utf8" });
  return status === 0 ? "" : stdout + stderr;
}

/** The value that an expression of the copy's modules has. */
function evaluate(source: string): unknown {
  const file = join(copy, "evaluate.ts");
  writeFileSync(file, `${source}\nconsole.log(JSON.stringify(value));\n`);
  const printed = execFileSync("npx", ["tsx", file], { cwd: copy, encoding: "utf8" });
  rmSync(file);
  return JSON.parse(printed);
}

test("a breakdown is added in the files of its row: migrations, exports, statistics and the document know it", () => {
  perform("add a breakdown", [
    [
      "schemas/contracts/breakdowns.ts",
      '    addressField: "unique_total",\n  },',
      `\n  { name: "city", title: "Downloads by city", values: [{ column: "city", field: "city", filter: "city" }] },`,
    ],
    [
      "api/web/statistics/panels.ts",
      "const LABELS: Readonly<Record<string, { title: string; noun: string }>> = {",
      '\n  city: { title: "Cities", noun: "City" },',
    ],
    [
      "deploy/docs/reference/exporting.md",
      "| breakdown | fields | available for |\n|---|---|---|\n",
      "| `city` | `city` | all packages |\n",
    ],
  ]);
  const known = evaluate(`
    import { readMigrations } from "./aggregate/clickhouse/read-migrations.js";
    import { STATISTICS_LISTS, FILTER_COLUMNS } from "./schemas/contracts/breakdowns.js";
    import { AGGREGATE_V1 } from "./schemas/contracts/aggregate.js";
    const migrations = (await readMigrations()).filter(({ text }) => text.includes("'city'"));
    const value = {
      migrations: migrations.map(({ name }) => name),
      lists: STATISTICS_LISTS.some(({ name }) => name === "city"),
      filter: FILTER_COLUMNS.get("city"),
      document: JSON.stringify(AGGREGATE_V1).includes('"city"'),
    };`);
  expect(known).toEqual({ migrations: ["breakdown-city"], lists: true, filter: "city", document: true });
  expect(failureOf("tsc", "--noEmit")).toBe("");
  expect(failureOf("vitest", "run", "--project", "unit", "test/unit/documents")).toBe("");
});

test("a kind of webhook event is added in the file of its row: subscriptions, form and document know it", () => {
  perform("add a kind of webhook event", [
    [
      "schemas/contracts/webhook-event.ts",
      "export const WEBHOOK_EVENTS = {",
      `
  "import-done": {
    label: "Finished imports",
    when: "An import is done",
    data: objectOf(["import"], { import: TEXT }),
    example: { import: "01a1fbad-cab4-710c-82a1-b3f3576e59e4" },
  },`,
    ],
  ]);
  const known = evaluate(`
    import { renderToString } from "preact-render-to-string";
    import { buildDocument } from "./api/base/http/openapi/build-document.js";
    import { KindFields } from "./api/dashboard/webhooks/webhook-labels.js";
    import { WEBHOOK_CREATE } from "./schemas/contracts/webhook.js";
    const { webhooks } = buildDocument([], { version: "1.0.0" });
    const value = {
      created: JSON.stringify(WEBHOOK_CREATE).includes('"import-done"'),
      document: webhooks["import-done"]?.post.summary,
      form: renderToString(KindFields({ chosen: [] })).includes("Finished imports"),
    };`);
  expect(known).toEqual({ created: true, document: "An import is done", form: true });
  expect(failureOf("tsc", "--noEmit")).toBe("");
});

test("a registry is added in the files of its row: the API, the dashboard and the settings know it", () => {
  perform("add a registry", [
    ["schemas/contracts/source.ts", "export const SOURCE_KINDS = [", '\n  "hex",'],
    [
      "api/features/sources/registries/hex.ts",
      null,
      `import { type Registry, WHOLE, compileAnswer, fieldsOf } from "./registry.js";

const read = compileAnswer<{ downloads: { all: number } }>(fieldsOf({ downloads: fieldsOf({ all: WHOLE }) }));

/** Downloads since the package exists. Source: https://github.com/hexpm/specifications */
export const hex: Registry = {
  url: "https://hex.pm",
  title: "Hex",
  noun: "package",
  name: { pattern: /^[a-z][a-z0-9_]{0,127}$/, example: "phoenix" },
  pageOf: (name) => \`https://hex.pm/packages/\${name}\`,
  pages: [{ hosts: ["hex.pm"], path: /^\\/packages\\/([^/]+)/ }],
  ask: ({ name }) => [{ path: \`/api/packages/\${name}\` }],
  read: (answer) => ({
    counters: [{ key: "all", metric: "downloads", value: read(answer).downloads.all }],
  }),
};
`,
    ],
    [
      "api/features/sources/registries/registries.ts",
      'import { githubReleases } from "./github-releases.js";',
      '\nimport { hex } from "./hex.js";',
    ],
    ["api/features/sources/registries/registries.ts", '"github-releases": githubReleases,', "\n  hex,"],
    [
      "deploy/docs/how-to/sources.md",
      "| kind | example names | counts | by version | history | what is counted |\n|---|---|---|---|---|---|\n",
      "| `hex` | `phoenix` | downloads | no | none | downloads of packages |\n",
    ],
  ]);
  const known = evaluate(`
    import { REGISTRY_TITLES } from "./api/features/sources/registries/registries.js";
    import { packageFor, parseRegistryUrl } from "./api/features/sources/parse-registry-url.js";
    import { parseConfig } from "./deploy/config/config.js";
    import { SOURCE_CREATE } from "./schemas/contracts/source.js";
    const found = parseRegistryUrl("https://hex.pm/packages/phoenix/1.7.0");
    const value = {
      ...found,
      package: packageFor(found!),
      title: REGISTRY_TITLES.includes("Hex"),
      urls: parseConfig({ SOURCES_URLS: "hex=https://hex.example.org" }).sources?.urls,
      document: JSON.stringify(SOURCE_CREATE).includes('"hex"'),
    };`);
  expect(known).toEqual({
    kind: "hex",
    name: "phoenix",
    package: { name: "phoenix", libraryType: "other" },
    title: true,
    urls: { hex: "https://hex.example.org" },
    document: true,
  });
  expect(failureOf("tsc", "--noEmit")).toBe("");
  expect(failureOf("npm", "run", "docs")).toBe("");
  expect(
    failureOf("vitest", "run", "--project", "unit", "test/unit/documents", "test/unit/api/features/sources"),
  ).toBe("");
});

/** Of a file in a folder four levels down. */
const ROOT = "../../../..";

test("a notification event is added in the files of its row: notifications, webhooks and forms know it", () => {
  perform("add a notification event", [
    [
      "schemas/contracts/notification-event.ts",
      "const SOURCES = gathered(SOURCE, objectOf(namesOf(SOURCE), SOURCE));",
      `
const ERASURE = { erasure: TEXT } as const;
const ERASURES = gathered(ERASURE, objectOf(namesOf(ERASURE), ERASURE));`,
    ],
    [
      "schemas/contracts/notification-event.ts",
      "export const FAILURE_EVENTS = {",
      `
  "erasure-late": {
    label: "Late erasures",
    when: "An erasure was not done after a day",
    data: objectOf(namesOf(ERASURES), ERASURES),
    example: { erasure: ID, ...ONE },
  },`,
    ],
    [
      "api/features/notifications/events/erasure-late.ts",
      null,
      `import type { NotificationData } from "${ROOT}/schemas/contracts/notification-event.js";
import { NIL_UUID } from "${ROOT}/schemas/formats.js";
import { type Draft, quoted } from "../message.js";
import { type FailureKind, listed, recent } from "./failure-kind.js";

export const erasureLate: FailureKind<"erasure-late"> = {
  select: \`
    select id::text as period, created_at as at, id::text as erasure from erasures
    where owner_id = rule.owner_id and \${recent("created_at")}\`,
  example: () => ({ erasure: NIL_UUID }),
  compose,
};

function compose(data: NotificationData["erasure-late"], owner: string): Draft {
  return {
    subject: \`\${quoted(owner)}: an erasure is late\`,
    lines: listed(data, ({ erasure }) => \`Erasure \${erasure} has not ended.\`),
    label: "Open erasures",
    end: "/settings/erasures",
  };
}
`,
    ],
    [
      "api/features/notifications/events/events.ts",
      'import { downloadsChanged } from "./downloads-changed.js";',
      '\nimport { erasureLate } from "./erasure-late.js";',
    ],
    [
      "api/features/notifications/events/events.ts",
      '  "import-failed": importFailed,',
      '\n  "erasure-late": erasureLate,',
    ],
    [
      "deploy/docs/how-to/notifications.md",
      "| `event` | content or condition | sent |\n|---|---|---|\n",
      "| `erasure-late` | an erasure that was not done after a day | once per erasure |\n",
    ],
  ]);
  const known = evaluate(`
    import { renderToString } from "preact-render-to-string";
    import { KindFields } from "./api/dashboard/webhooks/webhook-labels.js";
    import { composeMessage } from "./api/features/notifications/compose-message.js";
    import { exampleOf } from "./api/features/notifications/failures.js";
    import { NOTIFICATION_CREATE } from "./schemas/contracts/notification.js";
    const data = exampleOf("erasure-late", { thresholdPercent: null });
    const { subject } = composeMessage({ event: "erasure-late", data, owner: "acme", base: undefined });
    const value = {
      created: JSON.stringify(NOTIFICATION_CREATE).includes('"erasure-late"'),
      form: renderToString(KindFields({ chosen: [] })).includes("Late erasures"),
      subject,
    };`);
  const subject = 'Maintainer Toolchain: "acme": an erasure is late';
  expect(known).toEqual({ created: true, form: true, subject });
  expect(failureOf("tsc", "--noEmit")).toBe("");
  const tests = [
    "test/unit/documents",
    "test/unit/api/features/notifications",
    "test/unit/api/base/http/openapi",
  ];
  expect(failureOf("vitest", "run", "--project", "unit", ...tests)).toBe("");
});

const BOOKMARK_ROUTES = `import type { FromSchema } from "json-schema-to-ts";
import type { Pool } from "pg";
import { v7 as uuidv7 } from "uuid";
import { TIMESTAMP, titledObject } from "../../../schemas/formats.js";
import { compileBody } from "../../../schemas/validate.js";
import { ownerFor } from "../../base/access/authorise.js";
import { type Resource, findById, toOwner } from "../../base/http/resource.js";
import { listRoute } from "../../base/http/resource-lists.js";
import * as routes from "../../base/http/resource-routes.js";
import type { Route } from "../../base/http/route.js";
import { type Page, type Postgres, query } from "../../base/postgres/query.js";
import { columnsOf, insertRow, selectList, updateRow } from "../../base/postgres/record-rows.js";

const SENT = titledObject("BookmarkUpsert", ["title"], { title: { type: "string", format: "line" } });
const parse = compileBody<FromSchema<typeof SENT>>(SENT);

const BOOKMARK = titledObject("Bookmark", ["id", "owner", "title", "created_at", "updated_at"], {
  id: { type: "string", format: "uuid" },
  owner: { type: "string" },
  title: { type: "string" },
  created_at: TIMESTAMP,
  updated_at: TIMESTAMP,
});
type Bookmark = FromSchema<typeof BOOKMARK>;

const SELECT = \`select \${selectList(BOOKMARK, "t", { owner: "o.name" })}
  from bookmarks t join owners o on o.id = t.owner_id where t.owner_id = $1\`;
const EXAMPLE = { title: "Handbook" };

export function bookmarkRoutes({ pg }: { pg: Pool }): Route[] {
  const bookmarks = {
    pg,
    name: "bookmark",
    plural: "bookmarks",
    path: "/v2/:owner/bookmarks",
    actions: {
      read: "bookmarks.read",
      create: "bookmarks.manage",
      update: "bookmarks.manage",
      delete: "bookmarks.manage",
    },
    schema: BOOKMARK,
    example: EXAMPLE,
    admit: toOwner(ownerFor),
    list: (client: Postgres, { ownerId, page }: { ownerId: string; page: Page }) =>
      query<Bookmark>(client, \`\${SELECT} and ($2::uuid is null or t.id < $2) order by t.id desc limit $3\`, [
        ...[ownerId, page.after ?? null, page.perPage + 1],
      ]),
    find: findById({
      name: "bookmark",
      admit: toOwner(ownerFor),
      read: async (client, { ownerId, id }) =>
        (await query<Bookmark>(client, \`\${SELECT} and t.id = $2\`, [ownerId, id]))[0],
    }),
    recordOf: (bookmark) => bookmark,
    targetOf: ({ id, title }) => ({ kind: "bookmark", id, name: title }),
  } as const satisfies Resource<Bookmark>;
  return [
    listRoute(bookmarks),
    routes.createRoute(bookmarks, {
      body: { schema: SENT, example: EXAMPLE },
      parse,
      async insert(client, { owner, sent }) {
        const id = uuidv7();
        await insertRow(client, "bookmarks", { id, owner_id: owner.id, ...columnsOf(SENT, sent) });
        return id;
      },
      changesOf: (sent) => sent,
    }),
    routes.getRoute(bookmarks),
    routes.updateRoute(bookmarks, {
      body: { schema: SENT, example: EXAMPLE },
      parse,
      apply: (client, { before: { id }, sent }) =>
        updateRow(client, "bookmarks", { id, ...columnsOf(SENT, sent) }),
    }),
    routes.deleteRoute(bookmarks, {
      delete: (client, { id }) => query(client, "delete from bookmarks where id = $1", [id]),
    }),
  ];
}
`;

test("a resource is added in the files of its row: permissions, audit log and the document know it", () => {
  perform("add a resource", [
    [
      "api/base/access/resources.ts",
      "export const RESOURCES = {",
      `
  bookmarks: {
    tag: "Bookmarks",
    auditKind: "bookmark",
    actions: {
      read: { on: "owner", least: "member", scope: "read" },
      manage: { on: "owner", least: "admin", scope: "manage" },
    },
  },`,
    ],
    [
      "api/base/postgres/schema.sql",
      "-- Packages and pixels\n",
      `
create table bookmarks (
  id         uuid primary key,
  owner_id   uuid not null references owners (id) on delete cascade,
  title      text not null,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now()
);
`,
    ],
    ["api/features/packages/bookmark-routes.ts", null, BOOKMARK_ROUTES],
    [
      "api/management-routes.ts",
      'import { pixelRoutes } from "./features/packages/pixel-routes.js";',
      '\nimport { bookmarkRoutes } from "./features/packages/bookmark-routes.js";',
    ],
    ["api/management-routes.ts", "    ...pixelRoutes({ pg, quotas }),", "\n    ...bookmarkRoutes({ pg }),"],
  ]);
  const known = evaluate(`
    import { buildDocument } from "./api/base/http/openapi/build-document.js";
    import { ACTIONS } from "./api/base/access/resources.js";
    import { managementRoutes } from "./api/management-routes.js";
    const { paths } = buildDocument(managementRoutes({ pg: {}, tokens: {} }), { version: "1.0.0" });
    const of = Object.entries(paths).filter(([path]) => path.includes("bookmarks"));
    const value = {
      operations: of.flatMap(([, methods]) => Object.values(methods).map(({ operationId }) => operationId)),
      actions: Object.keys(ACTIONS).filter((action) => action.startsWith("bookmarks.")),
    };`);
  expect(known).toEqual({
    operations: ["listBookmarks", "createBookmark", "getBookmark", "updateBookmark", "deleteBookmark"],
    actions: ["bookmarks.read", "bookmarks.manage"],
  });
  // The tests' own table of permissions does not know it.
  expect(failureOf("tsc", "--noEmit", "--noCheck", "false", "-p", "tsconfig.build.json")).toBe("");
});

test("a configuration variable is added in the files of its row: its value, errors, help and page know it", () => {
  perform("add a configuration variable", [
    [
      "deploy/config/variables.ts",
      "  Servers: {",
      `
    STATUS_PAGE_MINUTES: {
      ...whole(1, 60, "minutes"),
      default: "5",
      meaning: "How often the status page is updated.",
      roles: ["jobs"],
    },`,
    ],
    [
      "deploy/config/config.ts",
      "    logLevel: values.LOG_LEVEL,",
      "\n    statusPageMinutes: values.STATUS_PAGE_MINUTES,",
    ],
  ]);
  const known = evaluate(`
    import { configurationHelp } from "./deploy/commands/describe-variables.js";
    import { parseConfig, type Config } from "./deploy/config/config.js";
    const minutesOf = ({ statusPageMinutes }: Config): number => statusPageMinutes;
    const errorOf = (env: Record<string, string>) => {
      try {
        parseConfig(env);
      } catch (error) {
        return (error as Error).message;
      }
    };
    const value = {
      minutes: [minutesOf(parseConfig({})), minutesOf(parseConfig({ STATUS_PAGE_MINUTES: "10" }))],
      wrong: errorOf({ STATUS_PAGE_MINUTES: "0" }),
      mistyped: errorOf({ STATUS_PAGE_MINUTE: "10" }),
      help: configurationHelp().includes("STATUS_PAGE_MINUTES (default: 5)"),
    };`);
  expect(known).toEqual({
    minutes: [5, 10],
    wrong: 'STATUS_PAGE_MINUTES must be a whole number of minutes from 1 to 60; it is "0"',
    mistyped: "STATUS_PAGE_MINUTE is unknown. Did you mean STATUS_PAGE_MINUTES?",
    help: true,
  });
  expect(failureOf("tsc", "--noEmit", "-p", "tsconfig.build.json")).toBe("");
  expect(failureOf("npm", "run", "docs")).toBe("");
  expect(readFileSync(join(copy, "deploy/docs/reference/configuration.md"), "utf8")).toContain(
    "| `STATUS_PAGE_MINUTES` | `5` | `jobs` |",
  );
});

test("an admin command is added in the files of its row: the program, its help and its page know it", () => {
  perform("add an admin command", [
    [
      "deploy/commands/admin-owners.ts",
      null,
      `import { Command } from "commander";
import type { Administer } from "./administer.js";

export function countOwnersCommand(administer: Administer): Command {
  return new Command("count-owners").description("Count users and organizations.").action(() =>
    administer(async ({ pg }) => {
      const { rows } = await pg.query<{ owners: string }>("select count(*)::text as owners from owners");
      return [rows[0]?.owners ?? "0"];
    }),
  );
}
`,
    ],
    [
      "deploy/commands/admin.ts",
      'import { funnelCommand } from "./admin-funnel.js";',
      '\nimport { countOwnersCommand } from "./admin-owners.js";',
    ],
    ["deploy/commands/admin.ts", "    funnelCommand(administer),", "\n    countOwnersCommand(administer),"],
    [
      "deploy/docs/reference/admin.md",
      "| command | effect |\n|---|---|\n",
      "| `count-owners` | prints the number of users and organizations |\n",
    ],
  ]);
  const known = evaluate(`
    import { adminCommand } from "./deploy/commands/admin.js";
    const value = adminCommand().helpInformation().includes("count-owners");`);
  expect(known).toBe(true);
  expect(failureOf("tsc", "--noEmit", "-p", "tsconfig.build.json")).toBe("");
  expect(failureOf("vitest", "run", "--project", "unit", "test/unit/documents/admin-commands.test.ts")).toBe(
    "",
  );
});
