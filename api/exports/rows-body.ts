import { ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { Stream } from "node:stream";
import { constants, createGzip, type Gzip } from "node:zlib";
import type { Rows } from "../../aggregate/queries/open-rows.js";

/**
 * A body for Koa that keeps nothing: a Readable would hold on to parts whose bytes are others by then. Its end has Koa
 * end the answer.
 */
export class RowsBody extends Stream {
  constructor(
    private readonly rows: Rows,
    private readonly signal: AbortSignal,
  ) {
    super();
  }

  override pipe<To extends NodeJS.WritableStream>(to: To): To {
    const written = to instanceof ServerResponse ? answerWith(this.rows, to) : writeRows(this.rows, to);
    written.then(
      () => this.emit("end"),
      (error: unknown) => {
        // Nobody listens for what befalls an answer whose caller has left.
        if (!this.signal.aborted) this.emit("error", error);
      },
    );
    return to;
  }
}

/** A failure of the rows reaches the socket through the compressor as well. */
export function gzipRows(rows: Rows): Gzip {
  const gzip = createGzip({ level: constants.Z_BEST_SPEED });
  // Koa listens as well, once it answers.
  gzip.on("error", () => undefined);
  writeRows(rows, gzip).then(
    () => gzip.end(),
    (error: Error) => gzip.destroy(error),
  );
  return gzip;
}

/** In the chunks that they come in, if they do; HTTP/1.0 knows none, and an answer behind another has no socket yet. */
async function answerWith(rows: Rows, response: ServerResponse): Promise<void> {
  const { socket } = response;
  if (rows.passChunks === undefined || socket === null || !response.useChunkedEncodingByDefault)
    return writeRows(rows, response);
  await rows.passChunks(
    (chunks) => {
      if (!response.headersSent) response.flushHeaders();
      return writeChunks(chunks, { response, socket });
    },
    () => undefined,
  );
  // The last chunk has passed as well: Node is not to add one.
  response.chunkedEncoding = false;
}

/**
 * Answers undefined when the bytes are out already, as they are where the reader keeps up; rejects where it has left,
 * not before the answer itself has heard of that.
 */
function writeChunks(
  chunks: Buffer,
  { response, socket }: { response: ServerResponse; socket: Socket },
): Promise<void> | undefined {
  let onOut: ((error?: Error | null) => void) | undefined;
  socket.write(chunks, (error) => onOut?.(error));
  // What fails at once leaves nothing to be written either.
  if (socket.writableLength === 0 && socket.writable) return undefined;
  return new Promise((resolve, reject) => {
    onOut = (error) => {
      if (!error) resolve();
      else if (response.closed) reject(error);
      else response.once("close", () => reject(error));
    };
  });
}

/** Asks for a part when the one before is out. */
async function writeRows(rows: Rows, to: NodeJS.WritableStream): Promise<void> {
  for await (const part of rows)
    await new Promise<void>((resolve, reject) =>
      to.write(part, (error) => (error ? reject(error) : resolve())),
    );
}
