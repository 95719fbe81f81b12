import type { FaultExample, ImportFault, LogClass } from "../../../../schemas/records/import-log.js";
import type { EventImport } from "../../../../schemas/records/import-store.js";
import { path } from "../../address.js";
import { useVisit } from "../../page.js";
import { Badge, type BadgeKind } from "../../parts/badge.js";
import { formatCount, formatFull } from "../../parts/format.js";
import { Panel } from "../../parts/panel.js";
import { Table } from "../../parts/table.js";
import { FAULT_WORDS } from "./import-words.js";

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
