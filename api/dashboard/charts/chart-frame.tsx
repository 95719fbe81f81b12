import type { ComponentChildren } from "preact";
import { Table, type Column } from "../parts/table.js";

interface ChartFrameProps {
  /** The content of the chart, in a sentence with its most important numbers. */
  sentence: string;
  /** The chart's numbers, whose caption is the name of the breakdown. */
  table: { caption: string; columns: readonly Column[]; rows: readonly (readonly ComponentChildren[])[] };
  /** Lets the script show the numbers of a place: its name is the first column, and each row is a place. */
  isPointed?: boolean;
  legend?: ComponentChildren;
  /** The address of the table as a file. */
  csv?: string | undefined;
  /** An SVG of `role="img"`, hidden from screen readers: the frame has the sentence. */
  children: ComponentChildren;
}

/** A drawing with a sentence for those who cannot see it, and its numbers as a table. */
export function ChartFrame({ sentence, table, isPointed, legend, csv, children }: ChartFrameProps) {
  return (
    <figure class="chart">
      <div class="drawing" role="img" aria-label={sentence} data-chart={isPointed ? "" : undefined}>
        {children}
      </div>
      {legend !== undefined && <figcaption class="legend">{legend}</figcaption>}
      <details class="numbers">
        <summary>Show as a table</summary>
        {csv !== undefined && (
          <a class="file" href={csv} download={`${table.caption}.csv`}>
            CSV<span class="hidden"> of this chart</span>
          </a>
        )}
        <Table {...table} />
      </details>
    </figure>
  );
}

/** A colour of a legend. */
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
