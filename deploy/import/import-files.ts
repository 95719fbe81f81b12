import { count, numbered } from "../../schemas/records/numbered.js";
import { createWriteStream } from "node:fs";
import { pipeline } from "node:stream/promises";
import { createHash } from "node:crypto";
import { pause } from "../../schemas/async/pause.js";
import { fileNameOf } from "../../schemas/records/file-name.js";
import { type ImportFormat, isAccessLog } from "../../schemas/records/import-format.js";
import {
  type DryRun,
  type EventImport,
  type ImportCounts,
  nothingImported,
} from "../../schemas/records/import-store.js";
import { StartFailure } from "../process/start-failure.js";
import { Refusal, type Service, callApi, followImport } from "./call-api.js";
import { type ImportFile, openFile } from "./open-file.js";
import type { ProgressBar } from "./progress-bar.js";
import { sendFile } from "./send-file.js";

export interface ImportOptions {
  /** Of the operation, without its query. */
  path: string;
  format: ImportFormat;
  /** Otherwise a file that looks like another format is rejected. */
  isFormatGiven: boolean;
  /** The URL template of the downloads in an access log. */
  pattern?: string | undefined;
  again: boolean;
  wait: boolean;
  dryRun: boolean;
  rejected?: string | undefined;
  bar: ProgressBar;
  /** Prints a line of text, or with --json the record that it is about, if there is one. */
  print: (line: string, record?: object) => void;
  signal: AbortSignal;
}

/** How the command ends: everything imported, or lines refused. Any other failure throws. */
export type Outcome = "imported" | "rejected";

/** Imports one file after the other. Each is an import of its own. Throws a StartFailure with a sentence. */
export async function importFiles(
  service: Service,
  paths: readonly string[],
  options: ImportOptions,
): Promise<Outcome> {
  let outcome: Outcome = "imported";
  for (const path of paths) {
    const file = await openFile(path, options.signal);
    if (!options.isFormatGiven) requireNdjson(file);
    const rejected = options.dryRun
      ? await tryFile(service, file, options)
      : await importFile(service, file, options);
    if (rejected > 0) outcome = "rejected";
  }
  return outcome;
}

function requireNdjson({ name, looksLike = "ndjson" }: ImportFile): void {
  if (looksLike !== "ndjson")
    throw new StartFailure(`${name} looks like ${looksLike}. Add --format ${looksLike}.`);
}

/** Answers how many lines would be refused. */
async function tryFile(service: Service, file: ImportFile, options: ImportOptions): Promise<number> {
  const sending = { ...options, path: addressOf(options, { dryRun: "true" }) };
  const answer = await sendFile<DryRun>(service, file, sending);
  options.bar.clear();
  options.print(`${file.name}: ${countsOf(answer, options, "would be ")} Nothing was imported.`, {
    file: file.name,
    ...answer,
  });
  printFaults(answer, options);
  return answer.events_failed_to_import;
}

function addressOf(
  { path, format, pattern }: Pick<ImportOptions, "path" | "format" | "pattern">,
  further: Record<string, string> = {},
): string {
  const query = new URLSearchParams(further);
  if (format !== "ndjson") query.set("format", format);
  if (pattern !== undefined) query.set("path", pattern);
  return query.size === 0 ? path : `${path}?${query.toString()}`;
}

/** Answers how many lines were refused. */
async function importFile(service: Service, file: ImportFile, options: ImportOptions): Promise<number> {
  const { bar, print, signal, wait } = options;
  const key = await keyOf(file, options);
  const answer = await sendUnderKey(service, file, { ...options, key });
  bar.clear();
  if (answer.status !== "importing")
    print(`${file.name} was already sent in the last 24 hours; skipped. Use --again to send it again.`);
  if (!wait) {
    print(`${file.name}: sent as import ${answer.id}.`, { file: file.name, ...answer });
    return 0;
  }
  const record = await followImport(service, answer, { name: file.name, bar, signal });
  bar.clear();
  if (record.status === "aborted") throw new Refusal(0, "aborted", abortedSentence(file, record));
  print(`${file.name}: ${countsOf(record, options)} Import ${record.id}.`, { file: file.name, ...record });
  if (record.events_successfully_imported === 0) print(`  ${whyNothing(record, options)}`);
  printFaults(record, options);
  if (record.events_failed_to_import > 0 && options.rejected !== undefined)
    await keepRejected(service, record, options.rejected);
  return record.events_failed_to_import;
}

/** The file's hash, and for other formats how it is read. Standard input is read once, so it has none. */
async function keyOf(
  { sha256 }: ImportFile,
  { again, format, pattern = "" }: ImportOptions,
): Promise<string | undefined> {
  if (again || sha256 === undefined) return undefined;
  const hash = await sha256();
  if (format === "ndjson") return hash;
  return createHash("sha256").update([hash, format, pattern].join("\n")).digest("hex");
}

/** A file that was sent to another package under its key gets a key of its own for this one. */
async function sendUnderKey(service: Service, file: ImportFile, options: KeyedOptions): Promise<EventImport> {
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

const BUSY_SECONDS = 5;

/** An owner may have some imports at a time, and a file that broke off is free again a moment later: waits for both. */
async function sendWhenTaken(
  service: Service,
  file: ImportFile,
  options: KeyedOptions,
): Promise<EventImport> {
  const name = file.bytes === undefined ? undefined : fileNameOf(file.name);
  const path = addressOf(options, name === undefined ? {} : { name });
  for (;;) {
    try {
      return await sendFile<EventImport>(service, file, { ...options, path });
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

function countsOf(counts: ImportCounts, { format }: ImportOptions, wouldBe = ""): string {
  const { events_successfully_imported: imported, events_failed_to_import: rejected } = counts;
  const warned =
    counts.events_with_warnings === 0 ? "" : `, ${count(counts.events_with_warnings)} of them with warnings`;
  const others = counts.lines_skipped === 0 ? "" : `, and ${skippedIn(counts, format)}`;
  return `${numbered(imported, "event")} ${wouldBe}imported${warned}, ${numbered(rejected, "line")} ${wouldBe}rejected${others}.`;
}

function skippedIn({ lines_skipped: skipped }: ImportCounts, format: ImportFormat): string {
  return `${numbered(skipped, "line")} skipped (not ${isAccessLog(format) ? "a download" : "an event"})`;
}

function whyNothing(record: ImportCounts, { pattern }: ImportOptions): string {
  const { events_total: events, lines_skipped: skipped } = record;
  if (events > 0 || skipped === 0 || pattern === undefined) return nothingImported(record);
  return (
    `Nothing was imported: no line is a download whose path matches --path ${pattern} ` +
    `(${numbered(skipped, "line")} read).`
  );
}

/** The record has the first ten of each class. */
function printFaults(
  { error_log_sample: errors, warning_log_sample: warnings }: ImportCounts,
  { print }: ImportOptions,
): void {
  for (const { line, human_friendly_message: message } of errors) print(`  line ${count(line)}: ${message}`);
  for (const { line, human_friendly_message: message } of warnings)
    print(`  line ${count(line)}, warning: ${message}`);
}

function abortedSentence({ name }: ImportFile, { id }: EventImport): string {
  return `${name}: import ${id} was aborted, and its events were removed. Use --again to import the file again.`;
}

async function keepRejected(service: Service, { owner, id }: EventImport, path: string): Promise<void> {
  const answer = await callApi(service, `/v2/imports/${encodeURIComponent(owner)}/${id}/rejected`);
  await pipeline(answer, createWriteStream(path, { flags: "a" }));
}
