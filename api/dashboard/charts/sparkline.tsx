import { area, curveMonotoneX, line } from "d3-shape";
import { round } from "./scales.js";

const WIDTH = 100;
const HEIGHT = 24;

/** A line of a few numbers in a row of text, which also has them in words. */
export function Sparkline({ values }: { values: readonly number[] }) {
  const greatest = Math.max(1, ...values);
  const x = (_: number, index: number) => round((index / Math.max(1, values.length - 1)) * WIDTH);
  const y = (value: number) => round(HEIGHT - 2 - (value / greatest) * (HEIGHT - 4));
  const fill = area<number>().x(x).y1(y).y0(HEIGHT).curve(curveMonotoneX);
  const draw = line<number>().x(x).y(y).curve(curveMonotoneX);
  return (
    <svg class="spark" viewBox={`0 0 ${WIDTH} ${HEIGHT}`} preserveAspectRatio="none" aria-hidden="true">
      <path class="fill" d={fill(values) ?? ""} />
      <path class="line" d={draw(values) ?? ""} />
    </svg>
  );
}
