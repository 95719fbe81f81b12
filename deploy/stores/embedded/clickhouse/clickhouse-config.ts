import { createHash } from "node:crypto";
import { existsSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { StartFailure } from "../../../process/start-failure.js";

interface ClickHouseConfig {
  usersPath: string;
  user: ClickHouseUser;
  memoryBytesMax: number;
}

interface ClickHouseUser {
  username: string;
  password: string;
}

/**
 * Otherwise `clickhouse local` has 2 merge threads, the caches of a large server and 90 % of the machine's
 * memory. Names: https://clickhouse.com/docs/operations/server-configuration-parameters/settings
 */
export function clickHouseConfig({ usersPath, user, memoryBytesMax }: ClickHouseConfig): string {
  const cacheBytes = Math.round(memoryBytesMax / 32);
  return xml({
    "log-level": "warning",
    users_config: usersPath,
    background_pool_size: 16,
    background_schedule_pool_size: 16,
    max_server_memory_usage: memoryBytesMax,
    mark_cache_size: cacheBytes,
    primary_index_cache_size: cacheBytes,
    index_mark_cache_size: cacheBytes,
    uncompressed_cache_size: 0,
    index_uncompressed_cache_size: 0,
    compiled_expression_cache_size: cacheBytes,
    http_handlers: httpHandlers(user),
    // Merges otherwise count the distinct values of every column, for an optimizer of joins that no query here has. Measured
    // with 8,000 events: a fifth of a merge.
    //
    // A power cut leaves parts broken that were not synced: their inserts are repeated, and merged parts have their sources.
    // By default ClickHouse starts with none that is larger than 1 GiB.
    merge_tree: {
      auto_statistics_types: "",
      max_suspicious_broken_parts: 10_000,
      max_suspicious_broken_parts_bytes: 2 ** 50,
    },
  });
}

/**
 * Only requests with our user's password are handled, from the first on. `default` needs none, and its quota does not count
 * constants: everybody on this machine could have the server compute them, for minutes and in as much memory as it has.
 * The password is in the rules because a request may name one user in its headers and another in its URL.
 */
function httpHandlers({ username, password }: ClickHouseUser): Element {
  const handler = { type: "dynamic_query_handler", query_param_name: "query" };
  const basic = Buffer.from(`${username}:${password}`).toString("base64");
  return {
    rule_of_clients: { headers: { Authorization: `Basic ${basic}` }, handler },
    rule_of_checks: { headers: { "X-ClickHouse-User": username, "X-ClickHouse-Key": password }, handler },
    // Says that the server is up, as every server does without a password.
    rule_of_ping: {
      url: "/ping",
      handler: { type: "static", status: 200, response_content: "Ok.\n" },
    },
  };
}

const GIB = 1024 ** 3;

/** In bytes. `limit` is that of the container; it is 0 or more than the machine has where there is none. */
export function engineMemory(limit: number, machine: number): number {
  const memory = limit > 0 ? Math.min(limit, machine) : machine;
  return Math.round(Math.min(memory / 2, 8 * GIB));
}

/**
 * The users. The session of the holding query is always `default`, without a password or a network limit. It may only open
 * the listener and read `system.numbers`, and its quota is used up by the two queries at the start. No HTTP request can be
 * `default`; see `httpHandlers`.
 */
export function clickHouseUsers({ username, password }: ClickHouseUser): string {
  const hash = createHash("sha256").update(password).digest("hex");
  return xml({
    profiles: { default: {} },
    // The longest interval that ClickHouse can read, in seconds.
    quotas: { default: {}, holder: { interval: { duration: 2_147_483_647, queries: 2 } } },
    users: {
      default: {
        password: "",
        profile: "default",
        quota: "holder",
        grants: { query: ["GRANT SYSTEM LISTEN ON *.*", "GRANT SELECT ON system.numbers"] },
      },
      [username]: {
        password_sha256_hex: hash,
        profile: "default",
        quota: "default",
        networks: { ip: "127.0.0.1" },
        access_management: 1,
      },
    },
  });
}

type Element = string | number | { [name: string]: Element | readonly string[] };

function xml(content: Element): string {
  return `<clickhouse>${inner(content)}</clickhouse>\n`;
}

function inner(content: Element): string {
  if (typeof content !== "object") return escapeText(String(content));
  return Object.entries(content)
    .flatMap(([name, value]) =>
      (isList(value) ? value : [value]).map((one) => `<${name}>${inner(one)}</${name}>`),
    )
    .join("");
}

function isList(value: Element | readonly string[]): value is readonly string[] {
  return Array.isArray(value);
}

function escapeText(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
}

const PACKAGE = "@chdb/lib-linux-x64-gnu";
const PACKAGE_VERSION = "26.7.3-stable.1";

// `clickhouse local` ends with its last query, so this one sleeps for years.
const HOLDING_QUERY =
  "SELECT sleepEachRow(1) FROM system.numbers LIMIT 100000000 SETTINGS max_block_size = 1, " +
  "function_sleep_max_microseconds_per_block = 0, max_execution_time = 0 FORMAT Null";

/** How the engine is started on a folder with a `config.xml`; it answers on the port. */
export function engineCommand({ dir, port }: { dir: string; port: number }) {
  return {
    command: process.execPath,
    args: [
      findChildEntry(),
      findClickHouseLibrary(),
      `--config-file=${join(dir, "config.xml")}`,
      "--output-format=TabSeparated",
      `--path=${join(dir, "data")}`,
      `--http_port=${port}`,
      "--listen_host=127.0.0.1",
      `--query=SYSTEM START LISTEN HTTP; ${HOLDING_QUERY}`,
    ],
    cwd: dir,
    env: { PATH: process.env["PATH"], TZ: "UTC" },
    staysInSession: true as const,
  };
}

/** The path of the engine's library in its optional package. Throws StartFailure when that is not installed. */
function findClickHouseLibrary(): string {
  try {
    const manifest = createRequire(import.meta.url).resolve(`${PACKAGE}/package.json`);
    return join(dirname(manifest), "libchdb.so");
  } catch (cause) {
    throw new StartFailure(missingSentence(`${process.platform} ${process.arch}`), { cause });
  }
}

export function missingSentence(platform: string): string {
  const server = "CLICKHOUSE_URL to a ClickHouse server, 25.11 or newer.";
  return platform === "linux x64"
    ? `The embedded ClickHouse requires the package ${PACKAGE}, which is not installed. Add it with \`npm ` +
        `install --save-optional ${PACKAGE}@${PACKAGE_VERSION}\`, or set ${server}`
    : `The embedded ClickHouse runs on Linux x64 (glibc) only; this machine is ${platform}. Set ${server}`;
}

/** The compiled entry of the child process, also when this module runs from source, as in tests. */
function findChildEntry(): string {
  const here = dirname(fileURLToPath(import.meta.url));
  const beside = join(here, "clickhouse-child.js");
  if (existsSync(beside)) return beside;
  const compiled = join(here, "../../../../dist/deploy/stores/embedded/clickhouse/clickhouse-child.js");
  if (existsSync(compiled)) return compiled;
  throw new Error(`${compiled} does not exist: run \`npm run build\` first`);
}
