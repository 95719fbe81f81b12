import { dateAt } from "../../../schemas/date-range.js";
import { formatTime } from "../parts/format.js";

/** Until when everything is counted. */
export function CompleteThrough({ time }: { time: string }) {
  const isToday = time.slice(0, 10) === dateAt(Date.now());
  return (
    <span class="soft small">
      <span aria-hidden="true">· </span>Complete through{" "}
      <time dateTime={time}>{isToday ? `${time.slice(11, 16)} UTC` : formatTime(time)}</time>
    </span>
  );
}
