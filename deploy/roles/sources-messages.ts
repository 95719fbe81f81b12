import type { SourceOutcome } from "../../api/features/sources/start-sources.js";
import type { SourceKind } from "../../schemas/contracts/source.js";
import type { Config } from "../config/config.js";
import type { LogLevel } from "../process/log.js";

export interface SourcesThreadData {
  sources: Config["sources"];
  quotas: Config["quotas"];
  postgresUrl: string;
  logLevel: LogLevel;
}

export type ToSources = { stop: true };
export type FromSources = { ready: true } | { kind: SourceKind; outcome: SourceOutcome };
