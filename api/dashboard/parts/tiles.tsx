import type { ComponentChildren } from "preact";
import { formatCount, formatFull, formatChange } from "./format.js";

interface TileContent {
  label: string;
  value: number;
  /** Against the time before, as a ratio: 0.1 is 10 % more. Null where nothing can be compared; absent: not asked. */
  change?: number | null | undefined;
  /** The value of the time before. */
  before?: number | undefined;
  /** A sparkline or a link. */
  children?: ComponentChildren;
}

/** The few numbers that sum up a page. */
export function Tiles({ tiles }: { tiles: readonly TileContent[] }) {
  return (
    <dl class="tiles">
      {tiles.map(({ label, value, change, before, children }) => (
        <div class="tile">
          <dt>{label}</dt>
          <dd>
            <data class="figure" value={String(value)} title={formatFull(value)}>
              {formatCount(value)}
            </data>
            {change !== undefined && <Change ratio={change} />}
            {before !== undefined && <span class="soft small one-line"> from {formatCount(before)}</span>}
            {children}
          </dd>
        </div>
      ))}
    </dl>
  );
}

/** How a number changed against the time before: an arrow, a colour and words, since a colour alone says nothing. */
export function Change({ ratio }: { ratio: number | null }) {
  if (ratio === null) return <span class="change soft">new</span>;
  if (ratio === 0) return <span class="change soft">±0 %</span>;
  const kind = ratio > 0 ? "up" : "down";
  return (
    <span class={`change ${kind}`}>
      <span aria-hidden="true">{ARROWS[kind]}</span>
      <span class="hidden">{kind} </span>
      {formatChange(Math.abs(ratio))}
    </span>
  );
}

const ARROWS = { up: "↑", down: "↓" } as const;

export type BadgeKind = "good" | "bad" | "warn" | "busy" | "plain";

/** A state in a word. Its colour says nothing that the word does not say. */
export function Badge({ kind = "plain", children }: { kind?: BadgeKind; children: ComponentChildren }) {
  return <span class={`badge ${kind}`}>{children}</span>;
}
