import type { ComponentChildren } from "preact";
import { Table, type Column } from "../parts/table.js";
import { scaleLinear } from "d3-scale";
import { formatShort } from "../parts/format.js";

interface ChartFrameProps {
  /** The content of the chart, in a sentence with its most important numbers. */
  sentence: string;
  /** The chart's numbers, with the chart's label as caption. */
  table: { caption: string; columns: readonly Column[]; rows: readonly (readonly ComponentChildren[])[] };
  /** Lets the script show the numbers of a place: its name is the first column, and each row is a place. */
  isPointed?: boolean;
  legend?: ComponentChildren;
  /** The table as a file. */
  csv?: { href: string; download: string } | undefined;
  /** See `NoteMarks`. */
  marks?: ComponentChildren;
  /** An SVG of `role="img"`, hidden from screen readers: the frame has the sentence. */
  children: ComponentChildren;
}

/** A drawing with a sentence for those who cannot see it, and its numbers as a table. */
export function ChartFrame({ sentence, table, isPointed, legend, csv, marks, children }: ChartFrameProps) {
  return (
    <figure class="chart">
      {marks}
      <div class="drawing" role="img" aria-label={sentence} data-chart={isPointed ? "" : undefined}>
        {children}
      </div>
      {legend && <figcaption class="legend">{legend}</figcaption>}
      <details class="numbers">
        <summary>Show as table</summary>
        {csv !== undefined && (
          <a class="file" {...csv}>
            <span class="hidden">Download this chart as </span>CSV
          </a>
        )}
        <button type="button" class="small" data-copy hidden aria-label="Copy table">
          Copy
        </button>
        <button type="button" class="small" data-image="svg" hidden aria-label="Save chart as SVG">
          SVG
        </button>
        <button type="button" class="small" data-image="png" hidden aria-label="Copy chart as PNG">
          PNG
        </button>
        <Table {...table} />
      </details>
    </figure>
  );
}

export function Key({ kind, children }: { kind: string; children: ComponentChildren }) {
  return (
    <span class="key">
      <svg viewBox="0 0 18 10" width="18" height="10" aria-hidden="true">
        <line x1="1" y1="5" x2="17" y2="5" class={kind} />
      </svg>
      {children}
    </span>
  );
}

/** The heading of the places of a chart in its table. */
export const PLACE_NAMES = { hour: "Hour", day: "Day", week: "Week of", month: "Month" } as const;

interface PlotProps {
  scale: Scale;
  labels: readonly string[];
  children: ComponentChildren;
}

/** Grid, labels and shapes of a chart over time. It is as wide as its box and always as high as `HEIGHT`. */
export function Plot({ scale, labels, children }: PlotProps) {
  return (
    <svg class="plot" width="100%" height={HEIGHT} aria-hidden="true">
      {scale.ticks.map(({ y }) => (
        <line class="grid-line" x1="0" x2="100%" y1={y} y2={y} />
      ))}
      <line class="base-line" x1="0" x2="100%" y1={HEIGHT - LABELS} y2={HEIGHT - LABELS} />
      <svg viewBox={`0 0 ${WIDTH} ${HEIGHT}`} width="100%" height={HEIGHT} preserveAspectRatio="none">
        {children}
      </svg>
      {scale.ticks.map(({ y, label }) => (
        <text class="tick" x="-8" y={y + 4} text-anchor="end">
          {label}
        </text>
      ))}
      <Places labels={labels} />
    </svg>
  );
}

/** Narrow windows hide every other label. */
function Places({ labels }: { labels: readonly string[] }) {
  const shown = labelled(labels.length, LABELS_MAX);
  return (
    <>
      {shown.map((index, order) => {
        const anchor = index === 0 ? "start" : index === labels.length - 1 ? "end" : "middle";
        const kind = order % 2 === 1 ? "tick minor" : "tick";
        return (
          <text
            class={kind}
            x={percentOf(index, labels.length)}
            y={HEIGHT - 6}
            text-anchor={labels.length === 1 ? "middle" : anchor}
          >
            {labels[index]}
          </text>
        );
      })}
    </>
  );
}

const LABELS_MAX = 9;

/** Drawings are stretched to their box, so that these units are parts of its width and height. */
export const WIDTH = 1000;
export const HEIGHT = 240;
/** Room for the labels of the places below the drawing, in the same units. */
export const LABELS = 26;
const TOP = 14;

interface Scale {
  y: (value: number) => number;
  ticks: { y: number; label: string }[];
}

/** From 0 to the next round number above the greatest value. */
export function scaleOf(values: readonly number[]): Scale {
  const greatest = Math.max(1, ...values);
  const scale = scaleLinear([0, greatest], [HEIGHT - LABELS, TOP]).nice(4);
  const ticks = scale
    .ticks(4)
    .filter((tick) => tick > 0 && Number.isInteger(tick))
    .map((tick) => ({ y: scale(tick), label: formatShort(tick) }));
  return { y: scale, ticks };
}

/** A single place is in the middle. */
export function placeOf(index: number, count: number): number {
  return count === 1 ? WIDTH / 2 : (index / (count - 1)) * WIDTH;
}

/** `placeOf` as a part of the box, for texts, which are not stretched. */
export function percentOf(index: number, count: number): string {
  return `${round((placeOf(index, count) / WIDTH) * 100)}%`;
}

/** The drawing in parts: where the last place still grows, the segment that leads to it is one of its own. */
export function partsOf(count: number, isLastOpen = false) {
  if (!isLastOpen || count < 2) return [{ kind: "", has: () => true }];
  return [
    { kind: "", has: (index: number) => index < count - 1 },
    { kind: "open", has: (index: number) => index >= count - 2 },
  ];
}

/** Enough for a drawing of 1,000 units, and short. */
export function round(value: number): number {
  return Math.round(value * 10) / 10;
}

/** Places to label: about `wanted` of them, at equal distances. */
function labelled(count: number, wanted: number): number[] {
  const step = Math.max(1, Math.ceil((count - 1) / (wanted - 1)));
  return Array.from({ length: Math.floor((count - 1) / step) + 1 }, (_, index) => index * step);
}
