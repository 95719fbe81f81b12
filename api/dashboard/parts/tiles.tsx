import type { ComponentChildren } from "preact";
import { formatCount, formatFull } from "./format.js";
import { Change } from "./change.js";

export interface TileContent {
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
