import { numbered } from "../../../../schemas/records/numbered.js";
import { formatSize } from "../../../../schemas/records/format-size.js";
import type { ImportFault } from "../../../../schemas/records/import-log.js";
import {
  type EventImport,
  type ImportCounts,
  linesDone,
  nothingImported,
} from "../../../../schemas/records/import-store.js";
import { Problem } from "../../../../schemas/problem.js";
import { path } from "../../address.js";
import { type Visit, page, useVisit } from "../../page.js";
import { Check, ConfirmButton, Field } from "../../parts/form.js";
import { type Form, requireTyped } from "../../read-form.js";
import { formatFull, formatTime } from "../../parts/format.js";
import { PageHead, Panel, Tiles } from "../../parts/panel.js";
import { Faults, ImportState, isRetracted, shareOf, targetWithin } from "./import-words.js";

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
    aborted: "The import was stopped.",
    retracting: "The import's events are being removed. They leave the exports within seconds to minutes.",
    retracted: "Every event of this import was removed.",
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
  requireTyped(form, { field: "confirm", word: "retract" });
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
              <span class="badge warn">Retracted</span>
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
          tileOf(record, "Refused", "events_failed_to_import"),
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
      Its statistics
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
      {token !== null && ` with the token ${token}`}, {formatTime(record.created_at)}
      {finished !== null && `; ended ${formatTime(finished)}`}
      {`. ${receivedText(record)}`}
    </>
  );
}

function receivedText({ bytes, bytes_unpacked: unpacked }: EventImport): string {
  const received = `${formatSize(unpacked)} received`;
  return bytes === unpacked ? received : `${received}, ${formatSize(bytes)} of them packed`;
}

/** Moves by `script/poll.ts`; without script a link reads the state anew. */
function Progress({ record }: { record: EventImport }) {
  const { href, owner } = useVisit();
  const { lines_received: received } = record;
  const done = linesDone(record);
  const isRetracting = record.status === "retracting";
  return (
    <Panel title={isRetracting ? "Its events are being removed" : "Lines are being enriched"}>
      <div data-import={href(`/api${path`/v2/imports/${owner.name}/${record.id}`}`)}>
        <progress
          aria-label={isRetracting ? "Removing" : "Lines enriched"}
          max={received}
          {...(shareOf(record) !== undefined && !isRetracting && { value: done })}
        />
        <p class="soft" data-import-text>
          {isRetracting
            ? "This takes seconds to minutes."
            : `${formatFull(done)} of ${numbered(received, "line")}`}
        </p>
        <p class="hidden" role="status" data-import-end />
        <noscript>
          <p>
            <a href={href(path`/o/${owner.name}/imports/${record.id}`)}>Read again how far it is</a>
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
        label="Stop this import"
        question="What has not been imported yet is dropped. What has been imported stays, unless you remove it too."
      >
        <Check name="retract" label="Also remove what was imported already" />
      </ConfirmButton>
    );
  if (record.status === "retracting" || isRetracted(faults) || record.events_successfully_imported === 0)
    return null;
  return (
    <ConfirmButton
      action="retract"
      label="Retract this import"
      question={
        <>
          Every number and export loses {numbered(record.events_successfully_imported, "event")}. Events that
          these had overridden come back. This cannot be undone.
        </>
      }
    >
      <Field name="confirm" label="Type retract to confirm" autocomplete="off" required />
    </ConfirmButton>
  );
}
