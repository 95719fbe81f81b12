import { createWriteStream } from "node:fs";
import { pipeline } from "node:stream/promises";
import { createHash } from "node:crypto";
import { pause } from "../../schemas/async/pause.js";
import type { RouteTemplate } from "../../ingest/routing/url-template.js";
import {
  type DryRun,
  type EventImport,
  type ImportCounts,
  nothingImported,
} from "../../schemas/records/import-store.js";
import { Refusal, type Service, callApi, count, followImport } from "./call-api.js";
import type { ImportFormat } from "./event-lines.js";
import { type ImportFile, openFile } from "./open-file.js";
import type { ProgressBar } from "./progress-bar.js";
import { sendFile } from "./send-file.js";

export interface ImportOptions {
  path: string;
  format: ImportFormat;
  pattern?: RouteTemplate | undefined;
  patternText?: string | undefined;
  again: boolean;
  wait: boolean;
  dryRun: boolean;
  rejected?: string | undefined;
  bar: ProgressBar;
  print: (line: string) => void;
  signal: AbortSignal;
}

/** How the command ends: everything imported, or lines refused. Any other failure throws. */
export type Outcome = "imported" | "refused";

/** Imports one file after the other. Each is an import of its own. Throws a StartFailure with a sentence. */
export async function importFiles(
  service: Service,
  paths: readonly string[],
  options: ImportOptions,
): Promise<Outcome> {
  let outcome: Outcome = "imported";
  for (const path of paths) {
    const file = await openFile(path);
    const refused = options.dryRun
      ? await tryFile(service, file, options)
      : await importFile(service, file, options);
    if (refused > 0) outcome = "refused";
  }
  return outcome;
}

/** Answers how many lines would be refused. */
async function tryFile(service: Service, file: ImportFile, options: ImportOptions): Promise<number> {
  const sending = { ...options, path: `${options.path}?dryRun=true` };
  const { answer, skipped } = await sendFile<DryRun>(service, file, sending);
  options.bar.clear();
  options.print(`${file.name}: ${countsOf(answer, { skipped, wouldBe: "would be " })} Nothing was imported.`);
  printFaults(answer, options);
  return answer.events_failed_to_import;
}

/** Answers how many lines were refused. */
async function importFile(service: Service, file: ImportFile, options: ImportOptions): Promise<number> {
  const { bar, print, signal, wait } = options;
  const key = await keyOf(file, options);
  const { answer, skipped } = await sendUnderKey(service, file, { ...options, key });
  bar.clear();
  if (answer.status !== "importing")
    print(`${file.name} was sent before. To import it once more, add --again.`);
  if (!wait) {
    print(`${file.name}: sent as import ${answer.id}.`);
    return 0;
  }
  const record = await followImport(service, answer, { name: file.name, bar, signal });
  bar.clear();
  if (record.status === "aborted") throw new Refusal(0, "aborted", abortedSentence(file, record));
  print(`${file.name}: ${countsOf(record, { skipped })} Import ${record.id}.`);
  if (record.events_successfully_imported === 0) print(`  ${whyNothing(record, skipped, options)}`);
  printFaults(record, options);
  if (record.events_failed_to_import > 0 && options.rejected !== undefined)
    await keepRejected(service, record, options.rejected);
  return record.events_failed_to_import;
}

/** The file's hash, and for other formats how it is read. Standard input is read once, so it has none. */
async function keyOf(
  { sha256 }: ImportFile,
  { again, format, patternText = "" }: ImportOptions,
): Promise<string | undefined> {
  if (again || sha256 === undefined) return undefined;
  const hash = await sha256();
  if (format === "ndjson") return hash;
  return createHash("sha256").update([hash, format, patternText].join("\n")).digest("hex");
}

/** A file that was sent to another package under its key gets a key of its own for this one. */
async function sendUnderKey(service: Service, file: ImportFile, options: KeyedOptions): Promise<Sent> {
  try {
    return await sendWhenTaken(service, file, options);
  } catch (error) {
    const isSentElsewhere = error instanceof Refusal && error.code === "idempotency-key-reused";
    if (!isSentElsewhere || options.key === undefined) throw error;
    const key = createHash("sha256").update(`${options.key}\n${options.path}`).digest("hex");
    return sendWhenTaken(service, file, { ...options, key });
  }
}

type KeyedOptions = ImportOptions & { key: string | undefined };
type Sent = { answer: EventImport; skipped: number };

const BUSY_SECONDS = 5;

/** An owner may have some imports at a time, and a file that broke off is free again a moment later: waits for both. */
async function sendWhenTaken(service: Service, file: ImportFile, options: KeyedOptions): Promise<Sent> {
  for (;;) {
    try {
      return await sendFile<EventImport>(service, file, options);
    } catch (error) {
      if (!(error instanceof Refusal) || !BUSY.has(error.code) || file.bytes === undefined) throw error;
      options.bar.show(file.name, { detail: `waiting: ${error.message}` });
      await pause((error.retryAfterSeconds ?? BUSY_SECONDS) * 1000, { signal: options.signal });
      options.signal.throwIfAborted();
    }
  }
}

const BUSY: ReadonlySet<string> = new Set([
  "too-many-active-imports",
  "import-in-progress",
  "rate-limited",
  "unavailable",
]);

function countsOf(
  counts: ImportCounts,
  { skipped, wouldBe = "" }: { skipped: number; wouldBe?: string },
): string {
  const { events_successfully_imported: imported, events_failed_to_import: refused } = counts;
  const others = skipped === 0 ? "" : `, and ${numbered(skipped, "request")} counted as no download`;
  return `${numbered(imported, "event")} ${wouldBe}imported, ${numbered(refused, "line")} ${wouldBe}refused${others}.`;
}

function numbered(number: number, noun: string): string {
  return `${count(number)} ${noun}${number === 1 ? "" : "s"}`;
}

/** Requests that are no downloads were not sent. */
function whyNothing(record: ImportCounts, skipped: number, { patternText }: ImportOptions): string {
  if (record.events_total > 0 || skipped === 0) return nothingImported(record);
  const matched = patternText === undefined ? "" : ` that --path ${patternText} matches`;
  return `Nothing was imported: ${numbered(skipped, "request")}, and no download${matched}.`;
}

/** The record has the first ten. */
function printFaults(counts: ImportCounts, { print, format }: ImportOptions): void {
  const faults = counts.error_log_sample;
  for (const { line, type, human_friendly_message: message } of faults) {
    const isOtherFormat = type === "failed-to-decode" && format !== "ndjson";
    print(`  line ${count(line)}: ${isOtherFormat ? `Not a line of the format ${format}` : message}`);
  }
  const isNone = counts.events_successfully_imported === 0;
  if (format === "ndjson" && isNone && faults[0]?.type === "failed-to-decode")
    print("  An access log needs --format combined, cloudfront or s3, and CSV --format csv.");
}

function abortedSentence({ name }: ImportFile, { id }: EventImport): string {
  return `${name}: import ${id} was aborted. Nothing of it is left. To import the file once more, add --again.`;
}

async function keepRejected(service: Service, { owner, id }: EventImport, path: string): Promise<void> {
  const answer = await callApi(service, `/v2/imports/${encodeURIComponent(owner)}/${id}/rejected`);
  await pipeline(answer, createWriteStream(path, { flags: "a" }));
}
