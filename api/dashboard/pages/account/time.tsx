import { formatTime } from "../../parts/format.js";

/** A timestamp of the API, on one line. */
export function Time({ at }: { at: string }) {
  return (
    <time class="one-line" dateTime={at}>
      {formatTime(at)}
    </time>
  );
}
