import type { Interval } from "../../../schemas/contracts/statistics.js";
import { formatDate, formatFull, formatHour, formatMonth, signedChange } from "../parts/format.js";
import { changeBetween } from "../statistics/compared-days.js";
import type { Column } from "../parts/table.js";

export interface Place {
  /** A day, or the time of an hour. */
  date: string;
  /** Null where there is none: a gap. */
  value: number | null;
}

/** A dashed line in a chart, place beside place. */
export interface SecondLine {
  /** Other days of the same, or another package in the same days. */
  of: "days" | "package";
  name: string;
  places: readonly Place[];
}

export function columnsOf({ of, name }: SecondLine): Column[] {
  const number = { name, isNumber: true };
  if (of === "package") return [number, { name: "Ratio", isNumber: true }];
  return [number, { name: "Compared with" }, { name: "Change", isNumber: true }];
}

interface Beside {
  value: number | null;
  index: number;
  interval: Interval;
  /** The place still grows, and those of other days do not: it has no change. */
  isOpen: boolean;
}

export function cellsOf(second: SecondLine, { value, index, interval, isOpen }: Beside): string[] {
  const place = second.places[index];
  if (place === undefined) return columnsOf(second).map(() => "");
  const other = place.value;
  const has = value !== null && other !== null;
  if (second.of === "package") return [numberOf(other), has ? ratioOf(value, other) : ""];
  return [
    numberOf(other),
    longLabel(place.date, interval),
    has && !isOpen ? signedChange(changeBetween(value, other)) : "",
  ];
}

/** 1.25 as 1.25; nothing to divide by has none. */
export function ratioOf(value: number, other: number): string {
  if (other === 0) return "";
  const ratio = value / other;
  return ratio >= 100 ? formatFull(Math.round(ratio)) : ratio.toPrecision(3);
}

export function numberOf(value: number | null): string {
  return value === null ? "no data" : formatFull(value);
}

export function longLabel(date: string, interval: Interval): string {
  if (interval === "hour") return formatHour(date);
  return interval === "month" ? formatMonth(date) : formatDate(date);
}
