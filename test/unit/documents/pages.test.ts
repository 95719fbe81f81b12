import { execFileSync } from "node:child_process";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, test } from "vitest";
import { headingId } from "../../../api/dashboard/guide/markdown.js";
import {
  CONFIRMATION_DAYS,
  MAIL_LIMITS,
  SENDS_BY_HAND_MAX,
  WAITING_HOURS_MAX,
  windowOf,
} from "../../../api/features/notifications/mail-limits.js";
import { VARIABLES } from "../../../deploy/config/variables.js";
import { BREAKDOWN_LIST } from "../../../schemas/contracts/breakdowns.js";
import { PROBLEM_CODES } from "../../../schemas/problem.js";
import { blocksOf, commandsOf, missingLines, PAGES } from "../../support/documents/pages.js";

const textOf = (page: string) => readFileSync(page, "utf8");
/** Without its blocks: prose and tables. */
const proseOf = (page: string) => textOf(page).replace(/^```[\s\S]*?^```$/gm, "");
const everyPage = execFileSync("git", ["ls-files", "*.md"], { encoding: "utf8" }).trim().split("\n");

test("every page is among those whose commands run", () => {
  expect([...PAGES].sort()).toEqual(
    everyPage.filter((page) => !/^(test\/fixtures|\.github)\//.test(page)).sort(),
  );
});

test("the page of notifications has every limit of mails", () => {
  const text = textOf("deploy/docs/how-to/notifications.md").replace(/\s+/g, " ");
  const written = MAIL_LIMITS.map(({ by, max, hours, mails }) => {
    const whom = {
      account: `${mails} from one account`,
      receiver: `${mails} from all owners to one address`,
      pair: `${mails} from one account to one address`,
    }[by];
    return `| ${whom} | ${max} in ${windowOf(hours)} |`;
  });
  const others = [
    `1 in ${CONFIRMATION_DAYS} days`,
    `${SENDS_BY_HAND_MAX} in a minute`,
    `waits for up to ${WAITING_HOURS_MAX} hours`,
    `valid for ${CONFIRMATION_DAYS} days`,
  ];
  expect([...written, ...others].filter((each) => !text.includes(each))).toEqual([]);
});

describe.each(PAGES)("%s", (page) => {
  test("says why not, above each block of code that no test runs", () => {
    const silent = blocksOf(page).filter(
      ({ language, notRun }) => !["sh", "json", "text"].includes(language) && notRun === undefined,
    );
    expect(silent.map(({ line }) => line)).toEqual([]);
  });

  test("links to pages, files and headings that exist", () => {
    const links = [...proseOf(page).matchAll(/\]\(([^)\s]+)\)/g)].map(([, link = ""]) => link);
    const broken = links.filter((link) => !/^https?:/.test(link) && !leadsSomewhere(page, link));
    expect(broken).toEqual([]);
  });

  test("names files and folders that exist", () => {
    expect(pathsIn(proseOf(page)).filter((path) => !existsSync(path))).toEqual([]);
  });

  test("names variables that the program reads", () => {
    const named = [...proseOf(page).matchAll(/`([A-Z]+(?:_[A-Z]+)+)(?:=[^`]*)?`/g)].map(
      ([, name = ""]) => name,
    );
    expect(named.filter((name) => !(name in VARIABLES) && !NOT_OURS.includes(name))).toEqual([]);
  });
});

/** Of Node, receivers, npm's users, tests, the `import` command and the servers of a ClickHouse cluster. */
const NOT_OURS = [
  "WEBHOOK_SECRET",
  "DO_NOT_TRACK",
  "NODE_USE_ENV_PROXY",
  "NODE_EXTRA_CA_CERTS",
  "CHROMIUM_PATH",
  "MAINTAINER_URL",
  "MAINTAINER_TOKEN",
  "XDG_CONFIG_HOME",
  "CLICKHOUSE_SHARD",
  "CLICKHOUSE_REPLICA",
  "CLICKHOUSE_PASSWORD",
  "CLUSTER_SECRET",
  "KEEPER_ID",
  "TEST_CLICKHOUSE_SHARDS",
  "TEST_CLICKHOUSE_URL",
  "TEST_CLICKHOUSE_CONTROL",
];

function leadsSomewhere(page: string, link: string): boolean {
  const [path = "", heading] = link.split("#");
  const target = path === "" ? page : join(dirname(page), path);
  return existsSync(target) && (heading === undefined || headingsOf(target).includes(heading));
}

function headingsOf(page: string): string[] {
  return [...textOf(page).matchAll(/^#+ (.+)$/gm)].map(([, title = ""]) => headingId(title));
}

const ROOMS = readdirSync(".", { withFileTypes: true }).flatMap((entry) =>
  entry.isDirectory() ? [entry.name] : [],
);

/** Everything in backquotes that begins with a folder of the repository. */
function pathsIn(text: string): string[] {
  return [...text.matchAll(/`([\w.-]+\/[\w./-]*)`/g)]
    .map(([, path = ""]) => path)
    .filter((path) => ROOMS.includes(path.split("/")[0] ?? ""));
}

describe("the table of files to change", () => {
  const section =
    textOf("deploy/docs/contribute/architecture.md").split("## Where to change what")[1]?.split("\n## ")[0] ??
    "";
  const rows = section.split("\n").filter((line) => line.startsWith("| ") && !line.startsWith("| you want"));

  test("has rows that name files, all from the root of the repository", () => {
    expect(rows.length).toBeGreaterThanOrEqual(15);
    const cells = rows.map((row) => [...row.matchAll(/`([^`]+)`/g)].map(([, name = ""]) => name));
    expect(rows.filter((_, index) => cells[index]?.length === 0)).toEqual([]);
    expect(cells.flat().filter((name) => !existsSync(name) && !name.startsWith("npm run "))).toEqual([]);
  });
});

test("the table of breakdowns has a row for each, with all of its fields", () => {
  const rows = textOf("deploy/docs/reference/exporting.md")
    .split("\n")
    .filter((line) => line.startsWith("| `"));
  const lacking = BREAKDOWN_LIST.filter((breakdown) => {
    const fields =
      "values" in breakdown ? breakdown.values.map(({ field }) => field) : [breakdown.addressField];
    const names = [breakdown.name, ...fields].map((name) => `\`${name}\``);
    return !rows.some((row) => names.every((name) => row.includes(name)));
  });
  expect(lacking.map(({ name }) => name)).toEqual([]);
});

test("the table of errors has every code", () => {
  const page = textOf("deploy/docs/reference/api.md");
  expect(PROBLEM_CODES.filter((code) => !page.includes(`\`${code}\``))).toEqual([]);
});

describe("a block", () => {
  const page = [
    "<!-- not run: needs Docker -->",
    "```sh",
    "docker ps",
    "```",
    "<!-- needs: jq -->",
    "```sh",
    "jq .",
    "```",
    "prose",
    "```json",
    '{"id":"01a1fbad-cab4-710c-82a1-b3f3576e59e4"}',
    "```",
    "",
  ].join("\n");

  test("is run unless it is marked, and compared with the output below it", () => {
    expect(commandsOf("page", page)).toEqual([
      {
        page: "page",
        line: 6,
        language: "sh",
        text: "jq .\n",
        needs: "jq",
        shown: ['{"id":"01a1fbad-cab4-710c-82a1-b3f3576e59e4"}'],
      },
    ]);
  });

  test("shows lines that its output has, in their order; ids and times may differ", () => {
    const output = 'a\n{"id":"02b2fbad-cab4-710c-82a1-b3f3576e59e4"}\nb 2026-11-22T07:00:00Z\n';
    const id = '{"id":"01a1fbad-cab4-710c-82a1-b3f3576e59e4"}';
    expect(missingLines([id, "b 2020-01-01T00:00:00.123Z"], output)).toEqual([]);
    expect(missingLines(["c"], output)).toEqual(["c"]);
    expect(missingLines([id, "a"], output)).toEqual(["a"]);
  });
});

interface Locked {
  hasInstallScript?: true;
  dev?: true;
  os?: string[];
  cpu?: string[];
}

test("the page about installing names every package of the service that has an install script", () => {
  const { packages } = JSON.parse(textOf("package-lock.json")) as { packages: Record<string, Locked> };
  const isHere = ({ os = ["linux"], cpu = ["x64"] }: Locked) => os.includes("linux") && cpu.includes("x64");
  const names = Object.entries(packages)
    .filter(([, each]) => each.hasInstallScript && !each.dev && isHere(each))
    .map(([path]) => path.replace(/^.*node_modules\//, ""));
  const [, section = ""] = textOf("deploy/docs/operate/one-machine.md").split("## Install scripts");
  const named = [...(section.split("\n##")[0] ?? "").matchAll(/`(@?[a-z-]+\/?[a-z0-9-]*)`/g)].map(
    ([, name]) => name,
  );
  expect(named.filter((name) => name !== "").toSorted()).toEqual(names.toSorted());
});
