import type { NotificationData, PeriodEvent } from "../../../schemas/contracts/notification-event.js";
import { periodKind } from "./events/events.js";

type PeriodicData = NotificationData[PeriodEvent];

/** Whether there is something to report about the period. */
export function shouldNotify(event: PeriodEvent, data: PeriodicData): boolean {
  return periodKind(event).isWorthSending(data);
}

/** A change of the numbers by no more than this is not worth a correction. */
const SHARE_MIN = 0.01;

/** Whether the numbers that were told have changed enough for a correction. */
export function shouldCorrect(event: PeriodEvent, told: PeriodicData, now: PeriodicData): boolean {
  const { figuresOf } = periodKind(event);
  const after = figuresOf(now);
  return figuresOf(told).some((figure, nth) => {
    const other = after[nth] ?? 0;
    return Math.abs(other - figure) > figure * SHARE_MIN;
  });
}
