import { formatTime } from "../parts/format.js";

/** Until when everything is counted. */
export function CompleteThrough({ time }: { time: string }) {
  const isToday = time.slice(0, 10) === new Date().toISOString().slice(0, 10);
  return (
    <span class="soft small through">
      Complete through <time dateTime={time}>{isToday ? `${time.slice(11, 16)} UTC` : formatTime(time)}</time>
    </span>
  );
}
