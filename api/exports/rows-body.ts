import { Stream } from "node:stream";
import { constants, createGzip, type Gzip } from "node:zlib";
import type { Rows } from "../../aggregate/queries/open-rows.js";

/**
 * A body for Koa that buffers nothing: a part of the rows is overwritten once the next one is asked for, so it must be
 * out by then. A Readable would keep parts. Koa ends the answer at its end.
 */
export class RowsBody extends Stream {
  constructor(
    private readonly rows: Rows,
    private readonly signal: AbortSignal,
  ) {
    super();
  }

  override pipe<To extends NodeJS.WritableStream>(to: To): To {
    writeRows(this.rows, to).then(
      () => this.emit("end"),
      (error: unknown) => {
        // Koa listens no more once the caller has left.
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

/** Asks for a part when the one before is out. */
async function writeRows(rows: Rows, to: NodeJS.WritableStream): Promise<void> {
  for await (const part of rows)
    await new Promise<void>((resolve, reject) =>
      to.write(part, (error) => (error ? reject(error) : resolve())),
    );
}
