import type { ImportFault, LogType } from "../../../../schemas/records/import-log.js";
import type { EventImport, ImportStatus } from "../../../../schemas/records/import-store.js";
import { Badge, type BadgeKind } from "../../parts/badge.js";
import { formatShare } from "../../parts/format.js";

const STATUSES: Record<ImportStatus, { label: string; kind: BadgeKind }> = {
  importing: { label: "Importing", kind: "busy" },
  done: { label: "Done", kind: "good" },
  aborted: { label: "Aborted", kind: "warn" },
  retracting: { label: "Retracting", kind: "busy" },
};

/** How far an import is, in a word and a percentage. */
export function ImportState({ record }: { record: EventImport }) {
  const { label, kind } = STATUSES[record.status];
  const share = shareOf(record);
  return (
    <Badge kind={kind}>
      {label}
      {record.status === "importing" && share !== undefined && ` ${formatShare(share)}`}
    </Badge>
  );
}

/** The part of the received lines that is enriched; undefined before the first lines. */
export function shareOf({ events_total: done, lines_received: received }: EventImport): number | undefined {
  return received === null || received === 0 ? undefined : done / received;
}

/** The name of the package or pixel that an import goes into. */
export function targetName({ package: intoPackage, pixel }: EventImport): string {
  const target = intoPackage ?? pixel;
  if (target === null) return "Several packages and pixels";
  return target.name ?? (intoPackage === null ? "A deleted pixel" : "A deleted package");
}

/** The meaning of an entry of the log, for a heading. */
export const FAULT_WORDS: Record<LogType, string> = {
  "failed-to-decode": "Not a JSON object",
  "missing-time": "Without $time",
  "invalid-time": "A $time that cannot be used",
  "past-retention": "A $time before the events that are kept",
  "artifact-not-found": "A package or pixel that was not found",
  "missing-artifact": "Without a package or pixel",
  "line-too-long": "Longer than 1 MiB",
  "invalid-value": "A value that cannot be used",
  "invalid-remote-address": "A $remote_address that is no address",
  "unknown-property": "An unknown name with $",
  "upload-interrupted": "The upload ended early",
  "dead-letter": "Dead letter: enrichment kept failing",
  retracted: "Retracted",
  "entries-not-kept": "More entries, which were not kept",
};

/** Whether all of the import was retracted: it is `done` or `aborted` all the same. */
export function isRetracted(faults: readonly ImportFault[]): boolean {
  return faults.some(({ type }) => type === "retracted");
}

const UNITS = ["B", "kB", "MB", "GB"] as const;

/** 12345678 as 12.3 MB. */
export function formatBytesShort(bytes: number): string {
  let value = bytes;
  let unit = 0;
  for (; value >= 1_000 && unit < UNITS.length - 1; unit++) value /= 1_000;
  return `${unit === 0 || value >= 100 ? Math.round(value) : value.toFixed(1)} ${UNITS[unit] ?? ""}`;
}
