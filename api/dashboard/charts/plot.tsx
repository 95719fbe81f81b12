import type { ComponentChildren } from "preact";
import { HEIGHT, LABELS, labelled, percentOf, WIDTH, type Scale } from "./scales.js";

interface PlotProps {
  scale: Scale;
  /** The labels of the places, from left to right. */
  labels: readonly string[];
  /** Shapes in units of `scales.ts`; lines keep their width although the drawing is stretched. */
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
