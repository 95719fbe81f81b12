import { numbered } from "../../../schemas/records/numbered.js";
import { formatSize } from "../../../schemas/records/format-size.js";
import type { ImportFault } from "../../../schemas/records/import-log.js";
import {
  type EventImport,
  type ImportCounts,
  linesDone,
  nothingImported,
} from "../../../schemas/records/import-store.js";
import { Problem } from "../../../schemas/problem.js";
import { path } from "../../web/address.js";
import { type Visit, page, useVisit } from "../../web/page.js";
import { Check, ConfirmButton, Field } from "../../web/parts/form.js";
import { type Form, requireTyped } from "../../web/read-form.js";
import { formatFull, formatTime } from "../../web/parts/format.js";
import { PageHead, Panel, Tiles } from "../../web/parts/panel.js";
import { Faults, ImportState, isRetracted, shareOf, targetWithin } from "./import-labels.js";

interface Shown {
  record: EventImport;
  /** Undefined while the store of the log is unavailable. The import goes on, and its bar with it. */
  faults: ImportFault[] | undefined;
}

export const importPage = page<Shown>({
  path: "/o/:owner/imports/:import",
  section: "imports",
  async load({ api, ...visit }) {
    const at = addressFor(visit);
    const record = await api<EventImport>({ path: at });
    return { record, faults: await faultsAt(api, at) };
  },
  title: ({ record }) => `Import into ${targetWithin(record)}`,
  render: (shown) => <ImportContent {...shown} />,
  submit: endImport,
  notices: {
    aborted: "Import stopped.",
    retracting: "Undoing the import. Its events disappear from all statistics and exports within minutes.",
    retracted: "Import undone. All of its events were removed.",
  },
});

async function faultsAt(api: Visit["api"], at: string): Promise<ImportFault[] | undefined> {
  try {
    return (await api<{ faults: ImportFault[] }>({ path: `${at}/faults` })).faults;
  } catch (error) {
    if (error instanceof Problem && error.code === "unavailable") return undefined;
    throw error;
  }
}

function addressFor({ owner, param }: Pick<Visit, "owner" | "param">): string {
  return path`/v2/imports/${owner.name}/${param("import")}`;
}

async function endImport(visit: Visit, form: Form) {
  const { api, owner, param, href } = visit;
  const at = addressFor(visit);
  const to = (notice: string) => ({
    to: href(path`/o/${owner.name}/imports/${param("import")}`, { notice }),
  });
  if (form.action === "abort") {
    const retract = form.has("retract");
    await api({ method: "POST", path: `${at}/abort`, query: { retract: String(retract) } });
    return to(retract ? "retracting" : "aborted");
  }
  requireTyped(form, { field: "confirm", word: "undo" });
  const running = await api<EventImport | undefined>({ method: "DELETE", path: at });
  return to(running === undefined ? "retracted" : "retracting");
}

function ImportContent({ record, faults }: Shown) {
  return (
    <>
      <PageHead
        title={
          <>
            Import into {targetWithin(record)} <ImportState record={record} hasBar />
            {isRetracted(faults ?? []) && record.status !== "retracting" && (
              <span class="badge warn">Undone</span>
            )}
          </>
        }
        about={<About record={record} />}
      >
        <StatisticsLink record={record} />
      </PageHead>
      {isUnfinished(record) && <Progress record={record} />}
      <Tiles
        tiles={[
          { label: "Lines", value: linesDone(record), name: "lines" },
          tileOf(record, "Imported", "events_successfully_imported"),
          tileOf(record, "With warnings", "events_with_warnings"),
          tileOf(record, "Rejected", "events_failed_to_import"),
          tileOf(record, "Skipped", "lines_skipped"),
        ]}
      />
      {record.status === "done" && record.events_successfully_imported === 0 && (
        <p class="notice warning">{nothingImported(record)}</p>
      )}
      <Faults record={record} faults={faults} />
      <Ending record={record} faults={faults} />
    </>
  );
}

type Counted = Exclude<keyof ImportCounts, `${string}_sample`>;

/** `script/poll.ts` moves its number. */
function tileOf(record: EventImport, label: string, name: Counted) {
  return { label, value: record[name], name };
}

/** To the chart of the package or pixel, where there is one that is still there. */
function StatisticsLink({ record }: { record: EventImport }) {
  const { package: intoPackage, pixel } = record;
  const { href, owner } = useVisit();
  const target = intoPackage ?? pixel;
  if (target === null || target.name === null) return null;
  const kind = intoPackage === null ? "pixels" : "packages";
  return (
    <a
      class={record.status === "done" ? "button primary" : "button"}
      href={href(path`/o/${owner.name}/${kind}/${target.id}`)}
    >
      View statistics
    </a>
  );
}

function isUnfinished({ status }: EventImport): boolean {
  return status === "importing" || status === "retracting";
}

function About({ record }: { record: EventImport }) {
  const { name, started_by: by, started_with_token: token, finished_at: finished } = record;
  return (
    <>
      {name !== undefined && (
        <>
          <bdi>{name}</bdi>.{" "}
        </>
      )}
      Started by {by}
      {token !== null && ` with token ${token}`} on {formatTime(record.created_at)}
      {finished !== null && `, finished ${formatTime(finished)}`}
      {`. ${receivedText(record)}`}
    </>
  );
}

function receivedText({ bytes, bytes_unpacked: unpacked }: EventImport): string {
  const received = `${formatSize(unpacked)} received`;
  return bytes === unpacked ? received : `${received} (${formatSize(bytes)} compressed)`;
}

/** Moves by `script/poll.ts`; without script a link reads the state anew. */
function Progress({ record }: { record: EventImport }) {
  const { href, owner } = useVisit();
  const { lines_received: received } = record;
  const done = linesDone(record);
  const isRetracting = record.status === "retracting";
  return (
    <Panel title={isRetracting ? "Undoing import" : "Processing lines"}>
      <div data-import={href(`/api${path`/v2/imports/${owner.name}/${record.id}`}`)}>
        <progress
          aria-label={isRetracting ? "Undoing import" : "Lines processed"}
          max={received}
          {...(shareOf(record) !== undefined && !isRetracting && { value: done })}
        />
        <p class="soft" data-import-text>
          {isRetracting
            ? "This can take a few minutes."
            : `${formatFull(done)} of ${numbered(received, "line")}`}
        </p>
        <p class="hidden" role="status" data-import-end />
        <noscript>
          <p>
            <a href={href(path`/o/${owner.name}/imports/${record.id}`)}>Refresh progress</a>
          </p>
        </noscript>
      </div>
    </Panel>
  );
}

function Ending({ record, faults = [] }: Shown) {
  if (record.status === "importing")
    return (
      <ConfirmButton
        action="abort"
        label="Stop import"
        question="Lines that have not been processed yet are discarded. Events that have already been imported are kept, unless you also remove them."
      >
        <Check name="retract" label="Also remove events that have already been imported" />
      </ConfirmButton>
    );
  if (record.status === "retracting" || isRetracted(faults) || record.events_successfully_imported === 0)
    return null;
  return (
    <ConfirmButton
      action="retract"
      label="Undo import"
      question={
        <>
          Removes {numbered(record.events_successfully_imported, "event")} from all statistics and exports,
          and restores events they had replaced. This can't be undone.
        </>
      }
    >
      <Field name="confirm" label="Type undo to confirm" autocomplete="off" required />
    </ConfirmButton>
  );
}
