import type { LogEntry } from "../../../schemas/records/import-log.js";
import type { EventImport } from "../../../schemas/records/import-store.js";
import type { ExpectedImport } from "./recount.js";

/** The outcome of an import, in a form in which the service's record and a recount can be compared. */
export interface ImportOutcome {
  status: EventImport["status"];
  total: number;
  successful: number;
  failed: number;
  /** `<line> <type>`, at most the first ten of each class. */
  errors: string[];
  warnings: string[];
}

const SAMPLE_MAX = 10;

export function outcomeOf(record: EventImport): ImportOutcome {
  return {
    status: record.status,
    total: record.events_total,
    successful: record.events_successfully_imported,
    failed: record.events_failed_to_import,
    errors: record.error_log_sample.map(described),
    warnings: record.warning_log_sample.map(described),
  };
}

/** The outcome of an import that is done. */
export function expectedOutcome({ total, successful, failed, entries }: ExpectedImport): ImportOutcome {
  const sampled = (wanted: string) =>
    entries
      .filter((entry) => entry.class === wanted)
      .slice(0, SAMPLE_MAX)
      .map(described);
  return {
    status: "done",
    total,
    successful,
    failed,
    errors: sampled("error"),
    warnings: sampled("warning"),
  };
}

function described({ line, type }: Pick<LogEntry, "line" | "type">): string {
  return `${line} ${type}`;
}
