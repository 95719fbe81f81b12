import { count, numbered } from "../../../schemas/records/numbered.js";
import type { Sample } from "./send-body.js";

interface LogEntry {
  line: number;
  human_friendly_message: string;
}

interface DryRun {
  events_total: number;
  events_successfully_imported: number;
  events_failed_to_import: number;
  events_with_warnings: number;
  error_log_sample: LogEntry[];
  warning_log_sample: LogEntry[];
  lines_skipped: number;
  event_sample: EventSample[];
}

interface EventSample {
  line: number;
  time: string;
  version: string;
  user_agent: string;
  variables: Record<string, string>;
}

/** Validates a sample without importing it. Throws the API's sentence if it is refused as a whole. */
export async function dryRun(url: URL, { text }: Sample): Promise<DryRun> {
  url.searchParams.set("dryRun", "true");
  const answer = await fetch(url, {
    method: "POST",
    headers: { "Content-Type": "text/plain" },
    body: text,
  });
  const body = (await answer.json()) as DryRun & { message?: string };
  if (!answer.ok) throw new Error(body.message ?? `the server returned status ${answer.status}`);
  return body;
}

export function showReport(at: HTMLElement, sample: Sample | undefined, found: DryRun | undefined): void {
  at.className = "report";
  if (sample === undefined || found === undefined) {
    at.replaceChildren("No preview for zstd files. Errors are listed once the file is imported.");
    return;
  }
  at.replaceChildren(
    paragraph(summaryOf(found, sample)),
    ...tableOf(found.event_sample),
    ...listOf("Rejected", found.error_log_sample),
    ...listOf("Imported with warnings", found.warning_log_sample),
  );
}

function summaryOf(found: DryRun, { isWhole }: Sample): string {
  const { events_total: total, events_failed_to_import: failed, lines_skipped: skipped } = found;
  const { events_with_warnings: warned } = found;
  const lines = total + skipped;
  if (lines === 0) return "The file has no lines.";
  const where = isWhole ? numbered(lines, "line") : `the first ${numbered(lines, "line")}`;
  const events = total - failed;
  return [
    `${events === 0 ? "No events" : numbered(events, "event")} found in ${where}.`,
    ...(warned > 0 ? [`${numbered(warned, "event has", "events have")} warnings.`] : []),
    ...(failed > 0 ? [`${numbered(failed, "line")} will be rejected.`] : []),
    ...(skipped > 0
      ? [`${numbered(skipped, "line contains", "lines contain")} no event and will be skipped.`]
      : []),
  ].join(" ");
}

const COLUMNS = ["Line", "Time", "Version", "Client", "Variables"];

/** The first events as they are read: of an access log, what its path captures. */
function tableOf(events: readonly EventSample[]): HTMLElement[] {
  if (events.length === 0) return [];
  const table = document.createElement("table");
  const caption = table.createCaption();
  caption.textContent = "First events";
  const head = table.createTHead().insertRow();
  for (const column of COLUMNS) {
    const cell = document.createElement("th");
    cell.textContent = column;
    head.append(cell);
  }
  const body = table.createTBody();
  for (const { line, time, version, user_agent: agent, variables } of events) {
    const named = Object.entries(variables).map(([name, value]) => `${name}=${value}`);
    const row = body.insertRow();
    for (const text of [count(line), time, version, agent, named.join(", ")])
      row.insertCell().textContent = text;
  }
  const scrolled = document.createElement("div");
  scrolled.className = "scroll";
  scrolled.append(table);
  return [scrolled];
}

function listOf(title: string, entries: readonly LogEntry[]): HTMLElement[] {
  if (entries.length === 0) return [];
  const list = document.createElement("ul");
  for (const { line, human_friendly_message: message } of entries) {
    const item = document.createElement("li");
    item.textContent = `Line ${count(line)}: ${message}`;
    list.append(item);
  }
  const heading = document.createElement("h3");
  heading.textContent = title;
  return [heading, list];
}

function paragraph(text: string): HTMLElement {
  const made = document.createElement("p");
  made.textContent = text;
  return made;
}
