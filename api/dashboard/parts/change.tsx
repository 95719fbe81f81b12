import { formatChange } from "./format.js";

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
