import { createHash } from "node:crypto";

export interface ClickHouseConfig {
  usersPath: string;
  memoryBytesMax: number;
}

export interface ClickHouseUser {
  username: string;
  password: string;
}

/**
 * The engine's configuration: the thread pools of a server, and small caches. Otherwise `clickhouse local` has 2 merge
 * threads, the caches of a large server and 90 % of the machine's memory. Names and meaning:
 * https://clickhouse.com/docs/operations/server-configuration-parameters/settings
 */
export function clickHouseConfig({ usersPath, memoryBytesMax }: ClickHouseConfig): string {
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
    // Merges otherwise count the distinct values of every column, for an optimizer of joins that no query here has. Measured
    // with 8,000 events: a fifth of a merge.
    merge_tree: { auto_statistics_types: "" },
  });
}

/**
 * The users. The session of the holding query is always `default`, without a password or a network limit, so everybody
 * on this machine can be `default` too. It may only open the listener and read `system.numbers`. Its quota is used up by
 * the two queries at the start, so nobody else can close the listener.
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
