import { poll } from "./poll.js";

/** The part of the API's record that the page shows. */
interface ImportRecord {
  status: string;
  events_total: number;
  lines_received: number;
}

const EVERY_MS = 1_000;

/** Moves the bar of a running import, and shows the whole page anew at its end. */
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
  await poll(address, { everyMs: EVERY_MS, isDone });
  if (isLeaving) return;
  const status = section.querySelector("[data-import-end]");
  if (status !== null) status.textContent = `The import is ${ended}.`;
  // Not `reload`: after a refused form that would send the form again.
  location.replace(location.pathname + location.search);
}

function show(section: HTMLElement, { events_total: done, lines_received: received }: ImportRecord): void {
  const bar = section.querySelector("progress");
  if (bar !== null && received > 0) {
    bar.max = received;
    bar.value = done;
  }
  const text = section.querySelector("[data-import-text]");
  const full = (count: number) => count.toLocaleString("en");
  if (text !== null) text.textContent = `${full(done)} of ${full(received)} lines`;
}
