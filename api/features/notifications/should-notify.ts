import type {
  DigestData,
  DownloadsChangedData,
  NewCompaniesData,
  NotificationData,
  PeriodEvent,
} from "../../../schemas/contracts/notification-event.js";

type DataOf = NotificationData[PeriodEvent];

/** Whether there is something to tell of the period. */
export function shouldNotify(event: PeriodEvent, data: DataOf): boolean {
  switch (event) {
    case "new-companies":
      return (data as NewCompaniesData).new_companies > 0;
    case "downloads-changed":
      return isFar(data as DownloadsChangedData);
    case "weekly-digest":
    case "monthly-digest": {
      const { totals, before } = data as DigestData;
      return totals.downloads + totals.views + before.downloads + before.views > 0;
    }
  }
}

/** Fewer downloads than this, now and usually, are no change worth a message. */
export const DOWNLOADS_MIN = 50;

type Compared = Pick<DownloadsChangedData, "downloads" | "median" | "change" | "threshold_percent">;

export function isFar({ downloads, median, change, threshold_percent: threshold }: Compared): boolean {
  if (Math.max(downloads, median) < DOWNLOADS_MIN) return false;
  return change === null || Math.abs(change) * 100 >= threshold;
}

/** Of four weeks: the mean of the two in the middle. */
export function medianOf(counts: readonly number[]): number {
  const sorted = [...counts].sort((a, b) => a - b);
  const middle = sorted.length / 2;
  const [low = 0, high = low] = sorted.slice(Math.ceil(middle) - 1, Math.floor(middle) + 1);
  return (low + high) / 2;
}

/** A change of the numbers by no more than this is not worth a correction. */
const SHARE_MIN = 0.01;

/** Whether the numbers that were told have changed enough for a correction. */
export function shouldCorrect(event: PeriodEvent, told: DataOf, now: DataOf): boolean {
  const after = figuresOf(event, now);
  return figuresOf(event, told).some((figure, nth) => {
    const other = after[nth] ?? 0;
    return Math.abs(other - figure) > figure * SHARE_MIN;
  });
}

function figuresOf(event: PeriodEvent, data: DataOf): number[] {
  if (event === "new-companies") return [(data as NewCompaniesData).new_companies];
  if (event === "downloads-changed") return [(data as DownloadsChangedData).downloads];
  const { totals, new_companies: companies } = data as DigestData;
  return [totals.downloads, totals.views, totals.unique_addresses, totals.companies, companies];
}
