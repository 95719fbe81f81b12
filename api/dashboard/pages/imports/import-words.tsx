import type { FaultExample, ImportFault, LogClass, LogType } from "../../../../schemas/records/import-log.js";
import { type EventImport, type ImportStatus, linesDone } from "../../../../schemas/records/import-store.js";
import { Badge, type BadgeKind, Panel } from "../../parts/panel.js";
import { formatCount, formatFull, formatShare } from "../../parts/format.js";
import { path } from "../../address.js";
import { useVisit } from "../../page.js";
import { Table } from "../../parts/table.js";

const STATUSES: Record<ImportStatus, { label: string; kind: BadgeKind }> = {
  importing: { label: "Importing", kind: "busy" },
  done: { label: "Done", kind: "good" },
  aborted: { label: "Aborted", kind: "warn" },
  retracting: { label: "Retracting", kind: "busy" },
};

/** With the share of a running import where no bar is beside it. Refused lines leave nothing all green. */
export function ImportState({ record, hasBar }: { record: EventImport; hasBar?: boolean }) {
  const { label, kind: usual } = STATUSES[record.status];
  const kind = usual === "good" && record.events_failed_to_import > 0 ? "warn" : usual;
  const share = hasBar ? undefined : shareOf(record);
  return (
    <Badge kind={kind}>
      {label}
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
  return target.name ?? (intoPackage === null ? "A deleted pixel" : "A deleted package");
}

/** After a word, as in "Import into several packages and pixels". */
export function targetWithin(record: EventImport): string {
  const name = targetName(record);
  const isNamed = [record.package?.name, record.pixel?.name].includes(name);
  return isNamed ? name : name.charAt(0).toLowerCase() + name.slice(1);
}

/** The meaning of an entry of the log, for a heading. */
const FAULT_WORDS: Record<LogType, string> = {
  "failed-to-decode": "Not a line of its format",
  "missing-time": "Without $time",
  "invalid-time": "A $time that cannot be used",
  "past-retention": "A $time before the events that are kept",
  "artifact-not-found": "A package or pixel that was not found",
  "missing-artifact": "Without a package or pixel",
  "line-too-long": "Longer than 1 MiB",
  "invalid-value": "A value that cannot be used",
  "invalid-remote-address": "A $remote_address that is no address",
  "unknown-country": "A $country that is none",
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

interface FaultsProps {
  record: EventImport;
  /** Undefined while the log cannot be read. */
  faults: readonly ImportFault[] | undefined;
}

/** The log of an import by type, with the first lines of each, and the whole of it to download. */
export function Faults({ record, faults }: FaultsProps) {
  if (faults === undefined)
    return (
      <Panel title="What went wrong">
        <p class="none">Its log cannot be read at the moment; try again in a few seconds.</p>
      </Panel>
    );
  return (
    <Panel title="What went wrong" links={faults.length > 0 && <Downloads record={record} />}>
      {faults.length === 0 ? (
        <p class="none">{record.status === "importing" ? "Nothing so far." : "Nothing."}</p>
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

function Downloads({ record }: { record: EventImport }) {
  const { href, owner } = useVisit();
  const file = (part: string) => href(`/api${path`/v2/imports/${owner.name}/${record.id}`}/${part}`);
  return (
    <>
      {record.events_failed_to_import > 0 && (
        <a href={file("rejected")} download={`rejected-${record.id}.ndjson`}>
          Download refused lines
        </a>
      )}
      <a href={file("log")} download={`log-${record.id}.ndjson`}>
        Download the whole log
      </a>
    </>
  );
}

const CLASSES: Record<LogClass, { label: string; kind: BadgeKind }> = {
  error: { label: "Refused", kind: "bad" },
  warning: { label: "Imported with a defect", kind: "warn" },
  info: { label: "Note", kind: "plain" },
};

function Fault({ fault, isOpen }: { fault: ImportFault; isOpen: boolean }) {
  const { label, kind } = CLASSES[fault.class];
  const [first] = fault.examples;
  if (first?.line === 0)
    return (
      <p class="entry">
        <Badge kind={kind}>{FAULT_WORDS[fault.type]}</Badge> {first.human_friendly_message}
      </p>
    );
  return (
    <details class="entry" open={isOpen}>
      <summary>
        <span>{FAULT_WORDS[fault.type]}</span>
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
        caption={`Lines: ${FAULT_WORDS[type]}`}
        columns={[
          { name: "Line", isNumber: true },
          { name: "Why" },
          ...(hasText ? [{ name: "As it was sent" }] : []),
        ]}
        rows={examples.map(cells)}
      />
      {count > examples.length && (
        <p class="soft small">The first {examples.length}. All of them are in the log.</p>
      )}
    </>
  );
}
