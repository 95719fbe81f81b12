import { Resolver } from "node:dns/promises";
import type { Logger } from "pino";
import type { Registry } from "prom-client";
import type { ResolveTxt } from "../../api/features/packages/hosts/host-checks.js";
import type { TokenCipher } from "../../api/base/identity/tokens.js";
import type { SharedCount, WakeUp } from "../../schemas/async/wake-up.js";
import type { Config } from "../config/config.js";
import type { PipelineMetrics } from "../metrics/pipeline-metrics.js";
import type { ClosingStack } from "../process/closing.js";
import type { Stores } from "../stores/open-stores.js";

export interface RoleParts {
  config: Config;
  log: Logger;
  open: ClosingStack;
  stores: Stores;
  secretKey: Buffer;
  tokens: TokenCipher;
  registry: Registry;
  metrics: PipelineMetrics;
  chunksWritten: WakeUp;
  /** Imports that are about to append their first lines: counted by the role `api`, read by the role `enrich`. */
  arriving: SharedCount;
}

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
