import { findGivenServers, type GivenServers } from "./given-servers.js";

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
