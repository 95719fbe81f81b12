import { dateAt } from "../../../schemas/date-range.js";
import { formatTime } from "../parts/format.js";

/** Until when everything is counted, and the first day with numbers where earlier ones of the range have none. */
export function CompleteThrough({ time, from }: { time: string; from?: string | undefined }) {
  const isToday = time.slice(0, 10) === dateAt(Date.now());
  return (
    <span class="soft small">
      <span aria-hidden="true">· </span>Complete through{" "}
      <time dateTime={time}>{isToday ? `${time.slice(11, 16)} UTC` : formatTime(time)}</time>
      {from !== undefined && ` · Numbers begin on ${from}: events before are no longer kept`}
    </span>
  );
}
