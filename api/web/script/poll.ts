import { count, numbered } from "../../../schemas/records/numbered.js";

const EVERY_MS_MAX = 30_000;

/** Asks until `isDone`: not while the page is not seen, and less often while nothing answers. */
export async function poll<Answer>(
  address: string,
  { everyMs, isDone }: { everyMs: number; isDone: (answer: Answer) => boolean },
): Promise<void> {
  let waitMs = everyMs;
  for (;;) {
    if (!document.hidden) {
      const answer = await read<Answer>(address);
      if (answer !== undefined && isDone(answer)) return;
      waitMs = answer === undefined ? Math.min(waitMs * 2, EVERY_MS_MAX) : everyMs;
    }
    await new Promise((resolve) => setTimeout(resolve, waitMs));
  }
}

/** Undefined if there is no answer at the moment. */
async function read<Answer>(address: string): Promise<Answer | undefined> {
  try {
    const response = await fetch(address, { headers: { accept: "application/json" } });
    return response.ok ? ((await response.json()) as Answer) : undefined;
  } catch {
    return undefined;
  }
}

const WAIT_MS = 3000;

interface Awaited {
  totals?: { downloads: number; views: number };
  sources?: { enabled: boolean; last_success_at?: string; last_error?: string }[];
}

/** Turns "waiting for your first event" into the chart, as soon as there is one; the same for counts of registries. */
export function awaitFirstEvent(): void {
  const isDone = ({ totals, sources = [] }: Awaited) =>
    totals === undefined
      ? sources.every((each) => !each.enabled || each.last_success_at || each.last_error)
      : totals.downloads + totals.views > 0;
  for (const { dataset } of document.querySelectorAll<HTMLElement>("[data-wait]"))
    void poll(dataset["wait"] ?? "", { everyMs: WAIT_MS, isDone }).then(() => location.reload());
}

interface ImportRecord extends Record<string, unknown> {
  status: string;
  events_total: number;
  lines_skipped: number;
  lines_received: number;
}

const PROGRESS_MS = 1_000;

/** Moves the bar and the numbers of a running import, and shows the whole page anew at its end. */
export function followImport(): void {
  const section = document.querySelector<HTMLElement>("[data-import]");
  if (section !== null) void follow(section, section.dataset["import"] ?? "");
}

async function follow(section: HTMLElement, address: string): Promise<void> {
  let ended = "";
  let isLeaving = false;
  // The page that follows a form says what it did: to show this page anew would hide that.
  document.addEventListener("submit", () => (isLeaving = true));
  const isDone = (record: ImportRecord) => {
    if (record.status !== "retracting") show(section, record);
    ended = record.status;
    return ended !== "importing" && ended !== "retracting";
  };
  await poll(address, { everyMs: PROGRESS_MS, isDone });
  if (isLeaving) return;
  const status = section.querySelector("[data-import-end]");
  if (status !== null) status.textContent = ended === "done" ? "Import done." : "Import stopped.";
  // Not `reload`: after a refused form that would send the form again.
  location.replace(location.pathname + location.search);
}

function show(section: HTMLElement, record: ImportRecord): void {
  const { lines_received: received } = record;
  const done = record.events_total + record.lines_skipped;
  const bar = section.querySelector("progress");
  if (bar !== null && received > 0) {
    bar.max = received;
    bar.value = done;
  }
  for (const figure of document.querySelectorAll<HTMLDataElement>("data[data-count]")) {
    const number = figure.dataset["count"] === "lines" ? done : record[figure.dataset["count"] ?? ""];
    if (typeof number !== "number") continue;
    figure.value = String(number);
    figure.title = figure.textContent = count(number);
  }
  const text = section.querySelector("[data-import-text]");
  if (text !== null) text.textContent = `${count(done)} of ${numbered(received, "line")}`;
}
