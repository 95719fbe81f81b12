import { area, curveLinear, line } from "d3-shape";
import type { Interval } from "../../../schemas/contracts/statistics.js";
import { formatDate, formatDay, formatFull, formatHour, formatMonth, signedChange } from "../parts/format.js";
import { changeOf } from "../statistics/compared-days.js";
import { NoteLines, NoteMarks, NoteTexts, type PlacedNotes, noteColumn, useNotes } from "./notes.js";
import {
  ChartFrame,
  Key,
  PLACE_NAMES,
  Plot,
  HEIGHT,
  LABELS,
  partsOf,
  placeOf,
  round,
  scaleOf,
} from "./plot.js";

export interface Place {
  date: string;
  /** Null where there is none: a gap. */
  value: number | null;
}

interface SeriesChartProps {
  /** The name of the counts: "Downloads". */
  label: string;
  interval: Interval;
  places: readonly Place[];
  /** The same of the previous period: the first is compared with the first. */
  before?: readonly Place[] | undefined;
  /** Further numbers of each place, which only the table has. */
  others?: readonly { name: string; values: readonly number[] }[];
  /** The last place may still grow: its line is dotted. */
  isLastOpen?: boolean;
  csv?: { href: string; download: string } | undefined;
}

/** Numbers over time, and the previous period as a dashed line. */
export function SeriesChart({ label, interval, places, before, others, isLastOpen, csv }: SeriesChartProps) {
  const scale = scaleOf([...places, ...(before ?? [])].map(({ value }) => value ?? 0));
  const count = Math.max(places.length, before?.length ?? 0);
  const x = (_: unknown, index: number) => round(placeOf(index, count));
  const y = ({ value }: Place) => round(scale.y(value ?? 0));
  const isThere = ({ value }: Place) => value !== null;
  const draw = line<Place>().defined(isThere).x(x).y(y).curve(curveLinear);
  const ground = HEIGHT - LABELS;
  const fill = area<Place>().defined(isThere).x(x).y1(y).y0(ground).curve(curveLinear);
  const placed = useNotes(places);
  return (
    <ChartFrame
      isPointed
      sentence={sentenceFor({ label, interval, places, before })}
      table={tableOf({ label, interval, places, before, others, placed, isLastOpen })}
      csv={csv}
      marks={<NoteMarks placed={placed} count={count} />}
      legend={
        before && (
          <>
            <Key kind="line">{label}</Key>
            <Key kind="line before">previous period</Key>
          </>
        )
      }
    >
      <Plot scale={scale} labels={places.map(({ date }) => shortLabel(date, interval))}>
        <NoteLines placed={placed} count={count} />
        {before && <path class="line before" d={draw(before) ?? ""} />}
        <path class="fill" d={fill(places) ?? ""} />
        {partsOf(places.length, isLastOpen).map(({ kind, has }) => (
          <path
            class={`line ${kind}`}
            d={draw.defined((place, index) => isThere(place) && has(index))(places) ?? ""}
          />
        ))}
        {places.length === 1 && <SinglePlace y={y(places[0] as Place)} ground={ground} />}
      </Plot>
    </ChartFrame>
  );
}

/** One place makes no line: a bar. */
function SinglePlace({ y, ground }: { y: number; ground: number }) {
  return <rect class="single" x="440" width="120" y={y} height={Math.max(1, ground - y)} />;
}

type SentenceOf = Pick<SeriesChartProps, "label" | "interval" | "places" | "before">;

function sentenceFor({ label, interval, places, before }: SentenceOf) {
  const sum = (of: readonly Place[]) => formatFull(of.reduce((total, { value }) => total + (value ?? 0), 0));
  const first = places[0];
  const last = places.at(-1);
  if (first === undefined || last === undefined) return `${label}: nothing in this range.`;
  const most = places.reduce((best, each) => ((each.value ?? 0) > (best.value ?? 0) ? each : best), first);
  const range = `from ${longLabel(first.date, interval)} to ${longLabel(last.date, interval)}`;
  const compared = before ? ` The previous period had ${sum(before)}.` : "";
  return `${label} ${range}: ${sum(places)} in all, most at ${longLabel(most.date, interval)} with ${formatFull(most.value ?? 0)}.${compared}`;
}

type TableOf = Omit<SeriesChartProps, "others" | "csv" | "isLastOpen"> & {
  isLastOpen: boolean | undefined;
  others: SeriesChartProps["others"];
  placed: readonly PlacedNotes[];
};

function tableOf({ label, interval, places, before, others = [], placed, isLastOpen }: TableOf) {
  const columns = [
    { name: PLACE_NAMES[interval] },
    { name: label, isNumber: true },
    ...others.map(({ name }) => ({ name, isNumber: true })),
    ...(before ? COMPARED_COLUMNS : []),
    ...noteColumn(placed),
  ];
  const rows = places.map(({ date, value }, index) => [
    <time dateTime={date}>{longLabel(date, interval)}</time>,
    numberOf(value),
    ...others.map(({ values }) => formatFull(values[index] ?? 0)),
    ...(before
      ? comparedCells(value, {
          before: before[index],
          interval,
          isOpen: isLastOpen === true && index === places.length - 1,
        })
      : []),
    ...noteColumn(placed).map(() => <NoteTexts placed={placed} index={index} />),
  ]);
  return { caption: "total", columns, rows };
}

const COMPARED_COLUMNS = [
  { name: "Previous period", isNumber: true },
  { name: "Compared with" },
  { name: "Change", isNumber: true },
];

/** A place that still grows has no change. */
function comparedCells(
  value: number | null,
  { before, interval, isOpen }: { before: Place | undefined; interval: Interval; isOpen: boolean },
): string[] {
  if (before === undefined) return ["", "", ""];
  const isCompared = value !== null && before.value !== null && !isOpen;
  return [
    numberOf(before.value),
    longLabel(before.date, interval),
    isCompared ? signedChange(changeOf(value, before.value ?? 0)) : "",
  ];
}

function numberOf(value: number | null): string {
  return value === null ? "no value" : formatFull(value);
}

function shortLabel(date: string, interval: Interval): string {
  if (interval === "hour") return date.slice(11, 16);
  return interval === "month" ? formatMonth(date) : formatDay(date);
}

function longLabel(date: string, interval: Interval): string {
  if (interval === "hour") return formatHour(date);
  return interval === "month" ? formatMonth(date) : formatDate(date);
}
