import { Stream } from "node:stream";
import { constants, createGzip, type Gzip } from "node:zlib";
import type { Rows } from "../../../aggregate/queries/open-rows.js";

/**
 * A body for Koa without a buffer. The next part of the rows overwrites the one before, so each part is written before
 * the next is requested. A Readable would retain parts. Koa ends the answer when this ends.
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
        // Koa no longer listens once the caller has left.
        if (!this.signal.aborted) this.emit("error", error);
      },
    );
    return to;
  }
}

/** Passes a failure of the rows through the compressor to the socket. */
export function gzipRows(rows: Rows): Gzip {
  const gzip = createGzip({ level: constants.Z_BEST_SPEED });
  // Koa adds its own listener once it answers.
  gzip.on("error", () => undefined);
  writeRows(rows, gzip).then(
    () => gzip.end(),
    (error: Error) => gzip.destroy(error),
  );
  return gzip;
}

/** Requests a part only after the one before is written. */
async function writeRows(rows: Rows, to: NodeJS.WritableStream): Promise<void> {
  for await (const part of rows)
    await new Promise<void>((resolve, reject) =>
      to.write(part, (error) => (error ? reject(error) : resolve())),
    );
}
