import { createGzip } from "node:zlib";
import type { DryRun, EventImport } from "../../schemas/records/import-store.js";
import { formatBytes } from "../../schemas/formats.js";
import type { RouteTemplate } from "../../ingest/routing/url-template.js";
import { StartFailure } from "../process/start-failure.js";
import { type Service, readJson } from "./call-api.js";
import { type Converted, type ImportFormat, eventLines } from "./event-lines.js";
import { type ImportFile, unpackedBytes, writeAll } from "./open-file.js";
import type { ProgressBar } from "./progress-bar.js";

export interface Sending {
  /** The path of the API: `/v2/acme/import`. */
  path: string;
  format: ImportFormat;
  /** The pattern of the downloads in an access log. */
  pattern?: RouteTemplate | undefined;
  key?: string | undefined;
  bar: ProgressBar;
  signal: AbortSignal;
}

/** Sends a file, packed. Resolves when the service has all of it. Throws as `callApi`, and if the file cannot be read. */
export async function sendFile<Answer extends EventImport | DryRun>(
  service: Service,
  file: ImportFile,
  { path, format, pattern, key, bar, signal }: Sending,
): Promise<{ answer: Answer; skipped: number }> {
  const converted: Converted = { skipped: 0 };
  const watched = { ...file, read: () => watchedBytes(file, bar) };
  const isSentAsItIs = format === "ndjson" && file.encoding !== "identity";
  const plain =
    format === "ndjson" ? watched.read() : eventLines(unpackedBytes(watched), { format, pattern }, converted);
  const body = isSentAsItIs ? plain : packed(plain);
  const headers = {
    "Content-Type": "application/ndjson",
    "Content-Encoding": isSentAsItIs ? file.encoding : "gzip",
    ...(key !== undefined && { "Idempotency-Key": key }),
  };
  const call = { method: "POST", headers, body: named(body, file), signal } as const;
  const answer = await readJson<Answer>(service, path, call);
  return { answer, skipped: converted.skipped };
}

/** As quick as a disk, and a tenth of the bytes of a log. */
const GZIP_LEVEL = 1;

function packed(plain: AsyncIterable<Buffer>): AsyncIterable<Buffer> {
  const gzip = createGzip({ level: GZIP_LEVEL, chunkSize: 64 * 1024 });
  void writeAll(plain, gzip);
  return gzip;
}

async function* watchedBytes({ read, bytes, name }: ImportFile, bar: ProgressBar): AsyncGenerator<Buffer> {
  let sent = 0;
  for await (const part of read()) {
    yield part;
    sent += part.length;
    const share = bytes === undefined ? undefined : sent / bytes;
    bar.show(`sending ${name}`, { share, detail: formatBytes(sent) });
  }
}

async function* named(body: AsyncIterable<Buffer>, { name }: ImportFile): AsyncGenerator<Buffer> {
  try {
    yield* body;
  } catch (error) {
    if (error instanceof StartFailure) throw error;
    throw new StartFailure(
      `${name} cannot be read: ${error instanceof Error ? error.message : String(error)}.`,
      {
        cause: error,
      },
    );
  }
}
