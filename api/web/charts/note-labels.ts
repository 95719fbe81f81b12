/** The text of a place's notes as it stands beside their mark. */
export interface NoteLabel {
  text: string;
  side: "right" | "left";
  /** The chart has to be so wide, in pixels, for the text to have room: a step of `STEPS`. */
  step: Step;
}

/** Widths of the drawing for which the page's styles show texts. */
const STEPS = [280, 600, 1000] as const;
type Step = (typeof STEPS)[number];

const TEXT_MAX = 40;
/** From the middle of a mark to its text, and between a text and the next mark. */
const GAP = 10;

type Noted = Readonly<{ text: string }>;

interface Placed {
  placed: readonly { index: number; notes: readonly Noted[] }[];
  /** Places of the chart. */
  count: number;
}

/** By index of the place: texts that meet neither each other nor the marks beside them. Those without room are absent. */
export function noteLabels({ placed, count }: Placed): ReadonlyMap<number, NoteLabel> {
  const labels = new Map<number, NoteLabel>();
  const partOf = (index: number) => (count === 1 ? 0.5 : index / (count - 1));
  let free = 0;
  for (const [nth, { index, notes }] of placed.entries()) {
    const at = partOf(index);
    const next = placed[nth + 1];
    const text = shortText(notes);
    const right = stepFor(text, (next === undefined ? 1 : partOf(next.index)) - at);
    const left = right === undefined ? stepFor(text, at - free) : undefined;
    if (right !== undefined) labels.set(index, { text, side: "right", step: right });
    if (left !== undefined) labels.set(index, { text, side: "left", step: left });
    // What is right of this mark is taken by its text.
    free = right === undefined ? at : next === undefined ? 1 : partOf(next.index);
  }
  return labels;
}

/** The narrowest drawing of which `part` has room for the text. */
function stepFor(text: string, part: number): Step | undefined {
  return STEPS.find((width) => part * width >= widthOf(text) + 2 * GAP);
}

function shortText([first, ...others]: readonly Noted[]): string {
  const { text = "" } = first ?? {};
  const letters = [...text];
  const short = letters.length > TEXT_MAX ? `${letters.slice(0, TEXT_MAX - 1).join("")}…` : text;
  return others.length === 0 ? short : `${short} +${others.length}`;
}

const LATIN_END = "\u02ff";

/** About, in pixels, at the size of the page's labels: letters of other scripts may be twice as wide. */
function widthOf(text: string): number {
  return [...text].reduce((width, letter) => width + (letter > LATIN_END && letter !== "…" ? 13 : 6.6), 0);
}
