import { type ListedShard, parseShards } from "../../../deploy/config/config.js";
import { execFile } from "node:child_process";
import { promisify } from "node:util";

/** Servers of ClickHouse that somebody started for the tests, with replicas. */
export interface GivenServers {
  /** In the form of CLICKHOUSE_SHARDS. */
  text: string;
  shards: readonly ListedShard[];
  /** The user and the password of all of them, in a CLICKHOUSE_URL. */
  url: string;
  /** Kills, freezes and starts them. Absent where nobody may. */
  control?: ServerControl;
}

interface NoServers {
  /** A sentence on what to set. */
  missing: string;
}

type Environment = Record<string, string | undefined>;

const FORM = "such as a: http://a1:8123 http://a2:8123; b: http://b1:8123 http://b2:8123";

/**
 * The servers of TEST_CLICKHOUSE_SHARDS, with the user and the password of TEST_CLICKHOUSE_URL (without it `default`
 * and none) and the command of TEST_CLICKHOUSE_CONTROL. Throws when a variable is set and wrong.
 */
export function findGivenServers(env: Environment = process.env): GivenServers | NoServers {
  const text = env["TEST_CLICKHOUSE_SHARDS"] ?? "";
  if (text === "") return { missing: `TEST_CLICKHOUSE_SHARDS names no servers, ${FORM}.` };
  const shards = parseShards(text);
  if (typeof shards === "string")
    throw new Error(`TEST_CLICKHOUSE_SHARDS must be shards, ${FORM}: ${shards}`);
  if (shards.some(({ servers }) => servers.length < 2))
    return {
      missing: `A shard of TEST_CLICKHOUSE_SHARDS has one server alone; tests of replicas need two, ${FORM}.`,
    };
  const command = env["TEST_CLICKHOUSE_CONTROL"] ?? "";
  return {
    text,
    shards,
    url: env["TEST_CLICKHOUSE_URL"] ?? `${shards[0]?.servers[0] ?? ""}`,
    ...(command !== "" && { control: controlBy(command) }),
  };
}

/** The names of the servers for the control command. */
export function serverNames(shards: readonly ListedShard[]): string[] {
  return shards.flatMap(({ name, servers }) => servers.map((_, index) => `${name}${index + 1}`));
}

/**
 * Does to one server what its machine could: `kill` ends it at once, `stop` freezes it until `cont`, `start` starts it
 * again and returns when it answers, `wipe` loses the disk of one that is not running, `cut` cuts the power: it ends, and its
 * disk has what was written down.
 */
type ControlVerb = "kill" | "stop" | "cont" | "start" | "wipe" | "cut";

/** The servers of a shard are `a1`, `a2` and so on; all of their keepers together are `keeper`. */
export type ServerControl = (verb: ControlVerb, server: string) => Promise<void>;

const CONTROL_MS_MAX = 180_000;

/** Runs the shell command with the verb and the server behind it. */
function controlBy(command: string): ServerControl {
  return async (verb, server) => {
    const line = `${command} ${verb} ${server}`;
    try {
      await promisify(execFile)("sh", ["-c", line], { timeout: CONTROL_MS_MAX });
    } catch (cause) {
      throw new Error(`${line} failed`, { cause });
    }
  };
}

const VARIABLE = "TEST_SUITE_SERVERS";

/** From here on this process starts programs, and opens tables, on the given servers. */
export function useSuiteServers(): void {
  process.env[VARIABLE] = "given";
}

/** Undefined where programs and tables are on a ClickHouse of their own. */
export function suiteServers(): GivenServers | undefined {
  if (process.env[VARIABLE] === undefined) return undefined;
  const servers = findGivenServers();
  return "missing" in servers ? undefined : servers;
}
