import type { Sample } from "./send-body.js";

interface LogEntry {
  line: number;
  human_friendly_message: string;
}

interface DryRun {
  events_total: number;
  events_successfully_imported: number;
  events_failed_to_import: number;
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
  if (!answer.ok) throw new Error(body.message ?? `the server answered ${answer.status}`);
  return body;
}

export function showReport(at: HTMLElement, sample: Sample | undefined, found: DryRun | undefined): void {
  at.className = "report";
  if (sample === undefined || found === undefined) {
    at.replaceChildren(
      "A file packed with zstd is checked by the server alone. Its faults show once it is imported.",
    );
    return;
  }
  at.replaceChildren(
    paragraph(summaryOf(found, sample)),
    ...tableOf(found.event_sample),
    ...listOf("Refused", found.error_log_sample),
    ...listOf("Imported with a defect", found.warning_log_sample),
  );
}

function summaryOf(found: DryRun, { isWhole }: Sample): string {
  const { events_total: total, events_failed_to_import: failed, lines_skipped: skipped } = found;
  const lines = total + skipped;
  const which = isWhole ? `All ${full(lines)} lines` : `The first ${full(lines)} lines`;
  if (lines === 0) return "The file has no lines.";
  if (skipped === lines) return `${which} hold no event. Nothing of this can be imported.`;
  if (failed === lines) return `${which} would be refused. Nothing of this can be imported.`;
  if (failed + skipped === 0) return `${which} are good.`;
  const others = [
    ...(failed > 0 ? [`${full(failed)} would be refused`] : []),
    ...(skipped > 0 ? [`${full(skipped)} hold no event`] : []),
  ];
  return `${which}: ${[`${full(total - failed)} are good`, ...others].join(", ")}.`;
}

const COLUMNS = ["Line", "Time", "Version", "Client", "Variables"];

/** The first events as they are read: of an access log, what its path captures. */
function tableOf(events: readonly EventSample[]): HTMLElement[] {
  if (events.length === 0) return [];
  const table = document.createElement("table");
  const caption = table.createCaption();
  caption.textContent = "The first events";
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
    for (const text of [full(line), time, version, agent, named.join(", ")])
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
    item.textContent = `Line ${full(line)}: ${message}`;
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

function full(count: number): string {
  return count.toLocaleString("en");
}
