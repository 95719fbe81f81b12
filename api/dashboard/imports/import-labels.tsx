import type { FaultExample, ImportFault, LogClass, LogType } from "../../../schemas/records/import-log.js";
import { type EventImport, type ImportStatus, linesDone } from "../../../schemas/records/import-store.js";
import { Badge, type BadgeKind, Panel } from "../../web/parts/panel.js";
import { formatCount, formatFull, formatShare } from "../../web/parts/format.js";
import { path } from "../../web/address.js";
import { numbered } from "../../../schemas/records/numbered.js";
import { useVisit } from "../../web/page.js";
import { Table } from "../../web/parts/table.js";

const STATUSES: Record<ImportStatus, { label: string; kind: BadgeKind }> = {
  importing: { label: "Importing", kind: "busy" },
  done: { label: "Done", kind: "good" },
  aborted: { label: "Stopped", kind: "warn" },
  retracting: { label: "Undoing", kind: "busy" },
};

/** With the share of a running import where no bar is beside it. Rejected lines leave nothing all green. */
export function ImportState({ record, hasBar }: { record: EventImport; hasBar?: boolean }) {
  const { label, kind: usual } = STATUSES[record.status];
  const kind = usual === "good" && record.events_failed_to_import > 0 ? "warn" : usual;
  const share = hasBar ? undefined : shareOf(record);
  return (
    <Badge kind={kind}>
      {label}
      {kind === "warn" && usual === "good" && `, ${formatCount(record.events_failed_to_import)} rejected`}
      {record.status === "importing" && share !== undefined && ` ${formatShare(share)}`}
    </Badge>
  );
}

/** The part of the received lines that is enriched; undefined before the first lines. */
export function shareOf(record: EventImport): number | undefined {
  return record.lines_received === 0 ? undefined : linesDone(record) / record.lines_received;
}

export function targetName({ package: intoPackage, pixel }: EventImport): string {
  const target = intoPackage ?? pixel;
  if (target === null) return "Several packages and pixels";
  return target.name ?? (intoPackage === null ? "Deleted pixel" : "Deleted package");
}

/** After a word, as in "Import into several packages and pixels". */
export function targetWithin(record: EventImport): string {
  const name = targetName(record);
  const isNamed = [record.package?.name, record.pixel?.name].includes(name);
  return isNamed ? name : name.charAt(0).toLowerCase() + name.slice(1);
}

/** The meaning of an entry of the log, for a heading. */
const FAULT_LABELS: Record<LogType, string> = {
  "failed-to-decode": "Doesn't match the file format",
  "missing-time": "Missing $time",
  "invalid-time": "Invalid $time",
  "past-retention": "Older than the retention period",
  "artifact-not-found": "Package or pixel not found",
  "missing-artifact": "No package or pixel given",
  "line-too-long": "Line longer than 1 MiB",
  "invalid-value": "Invalid value",
  "invalid-remote-address": "Invalid IP address",
  "unknown-country": "Unknown country code",
  "unknown-property": "Unknown $ field",
  "upload-interrupted": "Upload interrupted",
  "dead-letter": "Processing failed repeatedly (dead letter)",
  retracted: "Import undone",
  "entries-not-kept": "Some log entries were not kept",
};

/** Whether all of the import was retracted: it is `done` or `aborted` all the same. */
export function isRetracted(faults: readonly ImportFault[]): boolean {
  return faults.some(({ type }) => type === "retracted");
}

interface FaultsProps {
  record: EventImport;
  /** Undefined while the log cannot be read. */
  faults: readonly ImportFault[] | undefined;
}

/** The log of an import by type, with the first lines of each, and the whole of it to download. */
export function Faults({ record, faults }: FaultsProps) {
  if (faults === undefined)
    return (
      <Panel title="Errors and warnings">
        <p class="none">The import log is temporarily unavailable. Try again in a few seconds.</p>
      </Panel>
    );
  return (
    <Panel title="Errors and warnings" links={faults.length > 0 && <Downloads record={record} />}>
      {faults.length === 0 ? (
        <p class="none">{withoutErrors(record)}</p>
      ) : (
        <div class="entries">
          {faults.map((fault) => (
            <Fault fault={fault} isOpen={faults.length === 1} />
          ))}
        </div>
      )}
    </Panel>
  );
}

function withoutErrors(record: EventImport): string {
  if (record.status === "importing") return "No errors so far.";
  const imported = record.events_successfully_imported;
  return imported > 0 && imported === linesDone(record)
    ? `No errors. ${imported > 1 ? "All " : ""}${numbered(imported, "line")} imported.`
    : "No errors.";
}

function Downloads({ record }: { record: EventImport }) {
  const { href, owner } = useVisit();
  const file = (part: string) => href(`/api${path`/v2/imports/${owner.name}/${record.id}`}/${part}`);
  return (
    <>
      {record.events_failed_to_import > 0 && (
        <a href={file("rejected")} download={`rejected-${record.id}.ndjson`}>
          Download rejected lines
        </a>
      )}
      <a href={file("log")} download={`log-${record.id}.ndjson`}>
        Download full log
      </a>
    </>
  );
}

const CLASSES: Record<LogClass, { label: string; kind: BadgeKind }> = {
  error: { label: "Rejected", kind: "bad" },
  warning: { label: "Imported with a warning", kind: "warn" },
  info: { label: "Info", kind: "plain" },
};

function Fault({ fault, isOpen }: { fault: ImportFault; isOpen: boolean }) {
  const { label, kind } = CLASSES[fault.class];
  const [first] = fault.examples;
  if (first?.line === 0)
    return (
      <p class="entry">
        <Badge kind={kind}>{FAULT_LABELS[fault.type]}</Badge> {first.human_friendly_message}
      </p>
    );
  return (
    <details class="entry" open={isOpen}>
      <summary>
        <span>{FAULT_LABELS[fault.type]}</span>
        <Badge kind={kind}>{label}</Badge>
        <span class="end" title={formatFull(fault.count)}>
          {formatCount(fault.count)} {fault.count === 1 ? "line" : "lines"}
        </span>
      </summary>
      <Examples fault={fault} />
    </details>
  );
}

function Examples({ fault: { examples, count, type } }: { fault: ImportFault }) {
  const hasText = examples.some(({ text }) => text !== undefined);
  const cells = ({ line, human_friendly_message: message, text }: FaultExample) => [
    formatFull(line),
    message,
    ...(hasText ? [<code class="text">{text ?? ""}</code>] : []),
  ];
  return (
    <>
      <Table
        caption={`Lines: ${FAULT_LABELS[type]}`}
        columns={[{ name: "Line", isNumber: true }, "Reason", ...(hasText ? ["Original line"] : [])]}
        rows={examples.map(cells)}
      />
      {count > examples.length && (
        <p class="soft small">
          First {examples.length} of {formatFull(count)}. The full log has all of them.
        </p>
      )}
    </>
  );
}
