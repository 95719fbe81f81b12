import { UploadAborted } from "../../../ingest/import/active-uploads.js";
import { SenderIdle } from "../../../ingest/import/read-while-sent.js";
import { EventLogUnavailable } from "../../../schemas/records/event-log.js";
import { Problem } from "../../../schemas/problem.js";

const RETRY_AFTER_SECONDS = 10;

/** Problems of the body instead of errors of its streams. */
export async function readingBody<T>(work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (error) {
    throw bodyProblem(error);
  }
}

/** The answer to the sender of a body that broke off, stood still, or cannot be decompressed. */
function bodyProblem(error: unknown): unknown {
  if (error instanceof UploadAborted)
    return new Problem("already-finished", "The import was aborted during its upload.", { cause: error });
  if (error instanceof SenderIdle)
    return new Problem("request-timeout", "No data was received for too long. Nothing was imported.", {
      cause: error,
    });
  if (error instanceof EventLogUnavailable)
    return new Problem(
      "unavailable",
      "The event log is unavailable. Nothing was imported; try again later.",
      {
        retryAfterSeconds: RETRY_AFTER_SECONDS,
        cause: error,
      },
    );
  const code = error instanceof Error && "code" in error ? String(error.code) : "";
  if (!/^(Z_|ZSTD_|ERR__ERROR_|ERR_BROTLI)/.test(code)) return error;
  return new Problem(
    "invalid-body",
    "The body does not match its Content-Encoding, or it is incomplete. Send it again.",
    {
      cause: error,
    },
  );
}
