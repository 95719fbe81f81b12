import type { ComponentChildren } from "preact";
import { area, curveLinear, stack, line } from "d3-shape";
import type { Interval } from "../../../schemas/contracts/statistics.js";
import { formatDate, formatDay, formatFull, formatMonth } from "../parts/format.js";
import { NoteLines, NoteMarks, NoteTexts, noteColumn, useNotes } from "./notes.js";
import { ChartFrame, Key, PLACE_NAMES, Plot, partsOf, placeOf, round, scaleOf } from "./plot.js";

interface StackedPlace {
  date: string;
  /** In the order of the layers. */
  values: readonly number[];
}

interface AreaChartProps {
  /** The caption of its table, and the beginning of its sentence: "Companies by stage". */
  label: string;
  interval?: Interval;
  /** From the bottom up; at most six, for which there are colours. */
  layers: readonly string[];
  places: readonly StackedPlace[];
  /** The layers add up to something. Else the sentence says nothing of a sum. */
  /** The last place may still grow: it is drawn lighter. */
  isLastOpen?: boolean;
  /** In place of the names of the layers. */
  legend?: ComponentChildren;
  /** A value as text. */
  format?: (value: number) => string;
}

export function AreaChart({
  label,
  interval = "day",
  layers,
  places,
  isLastOpen,
  legend = layers.map((name, layer) => <Key kind={`line c${layer + 1}`}>{name}</Key>),
  format = formatFull,
}: AreaChartProps) {
  const sums = places.map(({ values }) => round(values.reduce((sum, value) => sum + value, 0)));
  const scale = scaleOf(sums);
  // Shares add up to all of them, which says nothing.
  const isSummed = format === formatFull && layers.length > 1;
  const stacked = stack<unknown, StackedPlace, number>()
    .keys(layers.map((_, index) => index))
    .value(({ values }, layer) => values[layer] ?? 0)([...places]);
  const draw = area<[number, number]>()
    .x((_, index) => round(placeOf(index, places.length)))
    .y0(([from]) => round(scale.y(from)))
    .y1(([, to]) => round(scale.y(to)))
    .curve(curveLinear);
  const placed = useNotes(places);
  const short = ({ date }: StackedPlace) => (interval === "month" ? formatMonth(date) : formatDay(date));
  return (
    <ChartFrame
      isPointed
      sentence={sentenceFor({ label, layers, places, format })}
      table={{
        caption: label,
        columns: [
          { name: PLACE_NAMES[interval] },
          ...layers.map((name, layer) => ({ name, isNumber: true, color: `c${layer + 1}` })),
          ...(isSummed ? [{ name: "Total", isNumber: true }] : []),
          ...noteColumn(placed),
        ],
        rows: places.map(({ date, values }, index) => [
          <time dateTime={date}>{formatDate(date)}</time>,
          ...layers.map((_, layer) => format(values[layer] ?? 0)),
          ...(isSummed ? [format(sums[index] ?? 0)] : []),
          ...noteColumn(placed).map(() => <NoteTexts placed={placed} index={index} />),
        ]),
      }}
      marks={<NoteMarks placed={placed} count={places.length} />}
      legend={legend}
    >
      <Plot scale={scale} labels={places.map(short)}>
        {partsOf(places.length, isLastOpen).flatMap(({ kind, has }) =>
          stacked.map((layer, index) => (
            <path
              class={`layer c${index + 1} ${kind}`}
              d={draw.defined((_, place) => has(place))(layer as unknown as [number, number][]) ?? ""}
            />
          )),
        )}
        <NoteLines placed={placed} count={places.length} />
      </Plot>
    </ChartFrame>
  );
}

type SentenceOf = Pick<AreaChartProps, "label" | "layers" | "places"> & { format: (value: number) => string };

function sentenceFor({ label, layers, places, format }: SentenceOf): string {
  const [first, last] = [places[0], places.at(-1)];
  if (first === undefined || last === undefined) return `${label}: no data for this period.`;
  const parts = layers.map((name, layer) => `${format(last.values[layer] ?? 0)} ${name}`);
  return `${label} from ${formatDate(first.date)} to ${formatDate(last.date)}. Latest: ${parts.join(", ")}.`;
}

const WIDTH = 100;
const HEIGHT = 24;

interface SparklineProps {
  /** Null where there is none: a gap. */
  values: readonly (number | null)[];
  /** The last value may still grow: its line is dotted. */
  isLastOpen?: boolean;
}

/** A line of a few numbers in a row of text, which also has them in words. */
export function Sparkline({ values, isLastOpen }: SparklineProps) {
  const greatest = Math.max(1, ...values.map((value) => value ?? 0));
  const x = (_: number | null, index: number) => round((index / Math.max(1, values.length - 1)) * WIDTH);
  const y = (value: number | null) => round(HEIGHT - 2 - ((value ?? 0) / greatest) * (HEIGHT - 4));
  const isThere = (value: number | null) => value !== null;
  const fill = area<number | null>().defined(isThere).x(x).y1(y).y0(HEIGHT).curve(curveLinear);
  const draw = line<number | null>().x(x).y(y).curve(curveLinear);
  return (
    <svg class="spark" viewBox={`0 0 ${WIDTH} ${HEIGHT}`} preserveAspectRatio="none" aria-hidden="true">
      <path class="fill" d={fill(values) ?? ""} />
      {partsOf(values.length, isLastOpen).map(({ kind, has }) => (
        <path
          class={`line ${kind}`}
          d={draw.defined((value, index) => isThere(value) && has(index))(values) ?? ""}
        />
      ))}
    </svg>
  );
}
