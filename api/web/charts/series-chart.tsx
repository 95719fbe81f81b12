import { area, curveLinear, line } from "d3-shape";
import type { Interval } from "../../../schemas/contracts/statistics.js";
import { formatDay, formatFull, formatMonth } from "../parts/format.js";
import { type Place, type SecondLine, cellsOf, columnsOf, longLabel, numberOf } from "./second-line.js";
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

interface SeriesChartProps {
  /** The name of the counts: "Downloads". */
  label: string;
  interval: Interval;
  places: readonly Place[];
  second?: SecondLine | undefined;
  /** Further numbers of each place, which only the table has. */
  others?: readonly { name: string; values: readonly number[] }[];
  /** The last place may still grow: its line is dotted. */
  isLastOpen?: boolean;
  csv?: { href: string; download: string } | undefined;
}

/** Numbers over time, and a second line that is dashed. */
export function SeriesChart({ label, interval, places, second, others, isLastOpen, csv }: SeriesChartProps) {
  const scale = scaleOf([...places, ...(second?.places ?? [])].map(({ value }) => value ?? 0));
  const count = Math.max(places.length, second?.places.length ?? 0);
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
      sentence={sentenceFor({ label, interval, places, second })}
      table={tableOf({ label, interval, places, second, others, placed, isLastOpen })}
      csv={csv}
      marks={<NoteMarks placed={placed} count={count} />}
      legend={
        second && (
          <>
            <Key kind="line">{label}</Key>
            <Key kind="line before">
              <bdi>{second.name}</bdi>
            </Key>
          </>
        )
      }
    >
      <Plot scale={scale} labels={places.map(({ date }) => shortLabel(date, interval))}>
        <NoteLines placed={placed} count={count} />
        {second && <path class="line before" d={draw(second.places) ?? ""} />}
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

type SentenceOf = Pick<SeriesChartProps, "label" | "interval" | "places" | "second">;

function sentenceFor({ label, interval, places, second }: SentenceOf) {
  const sum = (of: readonly Place[]) => formatFull(of.reduce((total, { value }) => total + (value ?? 0), 0));
  const first = places[0];
  const last = places.at(-1);
  if (first === undefined || last === undefined) return `${label}: no data for this period.`;
  const most = places.reduce((best, each) => ((each.value ?? 0) > (best.value ?? 0) ? each : best), first);
  const range = `from ${longLabel(first.date, interval)} to ${longLabel(last.date, interval)}`;
  const compared = second ? ` ${second.name}: ${sum(second.places)}.` : "";
  return `${label} ${range}: ${sum(places)} total, maximum ${formatFull(most.value ?? 0)} (${longLabel(most.date, interval)}).${compared}`;
}

type TableOf = Omit<SeriesChartProps, "others" | "csv" | "isLastOpen"> & {
  isLastOpen: boolean | undefined;
  others: SeriesChartProps["others"];
  placed: readonly PlacedNotes[];
};

function tableOf({ label, interval, places, second, others = [], placed, isLastOpen }: TableOf) {
  const columns = [
    { name: PLACE_NAMES[interval] },
    { name: label, isNumber: true },
    ...others.map(({ name }) => ({ name, isNumber: true })),
    ...(second ? columnsOf(second) : []),
    ...noteColumn(placed),
  ];
  const rows = places.map(({ date, value }, index) => [
    <time dateTime={date}>{longLabel(date, interval)}</time>,
    numberOf(value),
    ...others.map(({ values }) => formatFull(values[index] ?? 0)),
    ...(second
      ? cellsOf(second, {
          value,
          index,
          interval,
          isOpen: isLastOpen === true && index === places.length - 1,
        })
      : []),
    ...noteColumn(placed).map(() => <NoteTexts placed={placed} index={index} />),
  ]);
  return { caption: label, columns, rows };
}

function shortLabel(date: string, interval: Interval): string {
  if (interval === "hour") return date.slice(11, 16);
  return interval === "month" ? formatMonth(date) : formatDay(date);
}
