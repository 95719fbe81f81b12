import type { ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { Stream } from "node:stream";
import { constants, createGzip, type Gzip } from "node:zlib";
import type { Rows } from "../aggregate/open-rows.js";

/** A body for Koa that keeps nothing: a Readable would hold on to parts whose bytes are others by then. */
export class RowsBody extends Stream {
  constructor(
    private readonly rows: Rows,
    private readonly signal: AbortSignal,
  ) {
    super();
  }

  /** To an answer, which is what Koa pipes bodies to. */
  override pipe<To extends NodeJS.WritableStream>(to: To): To {
    sendRows(this.rows, to as unknown as ServerResponse).catch((error: unknown) => {
      // Nobody listens for what befalls an answer whose caller has left.
      if (!this.signal.aborted) this.emit("error", error);
    });
    return to;
  }
}

/** A failure of the rows reaches the socket through the compressor as well. */
export function gzipRows(rows: Rows): Gzip {
  const gzip = createGzip({ level: constants.Z_BEST_SPEED });
  // Koa listens as well, once it answers.
  gzip.on("error", () => undefined);
  writeRows(rows, gzip).catch((error: Error) => gzip.destroy(error));
  return gzip;
}

/** In the chunks that they come in, if they do; HTTP/1.0 knows none, and an answer behind another has no socket yet. */
async function sendRows(rows: Rows, response: ServerResponse): Promise<void> {
  const { socket } = response;
  if (rows.passChunks === undefined || socket === null) return writeRows(rows, response);
  response.flushHeaders();
  if (!response.chunkedEncoding) return writeRows(rows, response);
  await rows.passChunks(
    (chunks) => writeOut(socket, chunks),
    () => undefined,
  );
  // The last chunk has passed as well: Node is not to add one.
  response.chunkedEncoding = false;
  response.end();
}

/**
 * Answers undefined when the bytes are out already, as they are where the reader keeps up; rejects where it has left, not
 * before the answer itself has heard of that.
 */
function writeOut(socket: Socket, bytes: Buffer): Promise<void> | undefined {
  let onOut: ((error?: Error | null) => void) | undefined;
  socket.write(bytes, (error) => onOut?.(error));
  if (socket.writableLength === 0 && !socket.destroyed) return undefined;
  return new Promise((resolve, reject) => {
    onOut = (error) => {
      if (!error) resolve();
      else if (socket.closed) reject(error);
      else socket.once("close", () => reject(error));
    };
  });
}

/** Asks for a part when the one before is out. */
async function writeRows(rows: Rows, to: NodeJS.WritableStream): Promise<void> {
  for await (const part of rows)
    await new Promise<void>((resolve, reject) =>
      to.write(part, (error) => (error ? reject(error) : resolve())),
    );
  to.end();
}
