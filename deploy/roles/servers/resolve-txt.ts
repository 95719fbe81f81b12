import { Resolver } from "node:dns/promises";
import type { ResolveTxt } from "../../../api/hosts/host-checks.js";

const TIME_MS_MAX = 2_000;
const TRIES = 2;
/** The name is not there, or has no such record. */
const NONE = ["ENOTFOUND", "ENODATA"];

/** Asks these DNS servers, or those of the system where there are none. */
export function resolveTxtAt(servers: readonly string[]): ResolveTxt {
  const resolver = new Resolver({ timeout: TIME_MS_MAX, tries: TRIES });
  if (servers.length > 0) resolver.setServers([...servers]);
  return async (name) => {
    try {
      return (await resolver.resolveTxt(name)).map((parts) => parts.join(""));
    } catch (error) {
      if (NONE.includes((error as NodeJS.ErrnoException).code ?? "")) return [];
      throw error;
    }
  };
}
