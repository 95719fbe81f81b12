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
}

/** Validates a sample without importing it. Throws the API's sentence if it is refused as a whole. */
export async function dryRun(url: string, { text }: Sample): Promise<DryRun> {
  const answer = await fetch(`${url}?dryRun=true`, {
    method: "POST",
    headers: { "Content-Type": "application/ndjson" },
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
    ...(ACCESS_LOG.test(sample.text) ? [paragraph(ACCESS_LOG_HINT)] : []),
    ...listOf("Refused", found.error_log_sample),
    ...listOf("Imported with a defect", found.warning_log_sample),
  );
}

/** A first line with the time of `combined` logs in brackets. */
const ACCESS_LOG = /^[^{\n]*\[\d\d\/[A-Z][a-z]{2}\/\d{4}:/;
const ACCESS_LOG_HINT =
  "This is an access log. The last line on this page imports it as it is; here, only lines of JSON count.";

function summaryOf(found: DryRun, { isWhole }: Sample): string {
  const { events_total: total, events_failed_to_import: failed } = found;
  const which = isWhole ? `All ${full(total)} lines` : `The first ${full(total)} lines`;
  if (total === 0) return "The file has no lines.";
  if (failed === 0) return `${which} are good.`;
  if (failed === total) return `${which} would be refused. Nothing of this can be imported.`;
  return `${which}: ${full(total - failed)} are good, ${full(failed)} would be refused.`;
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
