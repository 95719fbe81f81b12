import { scaleLinear } from "d3-scale";
import { formatShort } from "../parts/format.js";

/** Drawings are stretched to their box, so that these units are parts of its width and height. */
export const WIDTH = 1000;
export const HEIGHT = 240;
/** Room for the labels of the places below the drawing, in the same units. */
export const LABELS = 26;
const TOP = 14;

export interface Scale {
  /** The vertical position of a value. */
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

/** The horizontal position of the place `index` of `count`. A single place is in the middle. */
export function placeOf(index: number, count: number): number {
  return count === 1 ? WIDTH / 2 : (index / (count - 1)) * WIDTH;
}

/** `placeOf` as a part of the box, for texts, which are not stretched. */
export function percentOf(index: number, count: number): string {
  return `${round((placeOf(index, count) / WIDTH) * 100)}%`;
}

/** Enough for a drawing of 1,000 units, and short. */
export function round(value: number): number {
  return Math.round(value * 10) / 10;
}

/** Places to label: about `wanted` of them, at equal distances. */
export function labelled(count: number, wanted: number): number[] {
  const step = Math.max(1, Math.ceil((count - 1) / (wanted - 1)));
  return Array.from({ length: Math.floor((count - 1) / step) + 1 }, (_, index) => index * step);
}
