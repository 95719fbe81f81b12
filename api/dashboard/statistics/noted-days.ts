import { type DateRange, addDays, daysBetween } from "../../../schemas/date-range.js";
import type { Note } from "../../web/charts/notes.js";

interface Counted {
  /** Undefined where the notes are of this package already. */
  package?: string;
  /** Downloads of each day of the range. */
  days: readonly number[];
}

/** So many times the usual count of a day, and more, are a spike. */
const SPIKE = 2;

/**
 * The note that explains why a package grew: of the package or of all, on a day with more than twice the downloads of its
 * usual day. The one with the greatest day; undefined where no spike has a note.
 */
export function noteOfSpike(
  { package: id, days }: Counted,
  { notes, range }: { notes: readonly Note[]; range: Pick<DateRange, "startDate"> },
): Note | undefined {
  const usual = days.toSorted((one, other) => one - other)[Math.floor(days.length / 2)] ?? 0;
  const found = notes
    .filter(({ package_id: of = id }) => id === undefined || of === id)
    .map((note) => ({ note, most: Math.max(...daysOf(note, { days, range })) }))
    .filter(({ most }) => most > SPIKE * Math.max(1, usual))
    .sort((one, other) => other.most - one.most);
  return found[0]?.note;
}

function daysOf(
  { date, end_date: end = date }: Note,
  { days, range }: Pick<Counted, "days"> & { range: Pick<DateRange, "startDate"> },
): readonly number[] {
  const [from, until] = [date, addDays(end, 1)].map((day) => Math.max(0, daysBetween(range.startDate, day)));
  return [0, ...days.slice(from, until)];
}
