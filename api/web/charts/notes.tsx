import { createContext } from "preact";
import { useContext } from "preact/hooks";
import type { AnnotationRecord } from "../../../schemas/contracts/annotation.js";
import { formatDate } from "../parts/format.js";
import { type NoteLabel, noteLabels } from "./note-labels.js";
import { HEIGHT, LABELS, percentOf, placeOf, round } from "./plot.js";

export type Note = Pick<AnnotationRecord, "id" | "package_id" | "date" | "end_date" | "text" | "url">;

/** What happened in the days of a page's charts: each chart below it shows them. */
export const NotesContext = createContext<readonly Note[]>([]);

/** The notes of one place of a chart. */
export interface PlacedNotes {
  index: number;
  notes: readonly Note[];
}

/** By place, in their order: the last one that begins by the note's day. */
export function useNotes(places: readonly { date: string }[]): readonly PlacedNotes[] {
  const notes = useContext(NotesContext);
  const indexOf = ({ date, end_date: end = date }: Note) =>
    Math.max(
      // The first hour of the day where places are hours.
      places.findIndex((place) => place.date.startsWith(date)),
      places.findLastIndex((place) => place.date <= date),
      end >= (places[0]?.date ?? "~") ? 0 : -1,
    );
  return places.flatMap((_, index) => {
    const here = notes.filter((note) => indexOf(note) === index);
    return here.length === 0 ? [] : [{ index, notes: here.toSorted((a, b) => (a.date < b.date ? -1 : 1)) }];
  });
}

interface MarksProps {
  placed: readonly PlacedNotes[];
  /** Places of the chart. */
  count: number;
}

/** In the drawing, behind its lines. */
export function NoteLines({ placed, count }: MarksProps) {
  return (
    <>
      {placed.map(({ index }) => {
        const x = round(placeOf(index, count));
        return <line class="note-line" x1={x} x2={x} y1="0" y2={HEIGHT - LABELS} />;
      })}
    </>
  );
}

/** Above the drawing, which is an image: marks that the keyboard reaches, with their texts where there is room. */
export function NoteMarks({ placed, count }: MarksProps) {
  if (placed.length === 0) return null;
  const labels = noteLabels({ placed, count });
  return (
    <svg class="marks" width="100%" height="20" role="group" aria-label="Annotations">
      {placed.map(({ index, notes }) => {
        // Isolated: a text from right to left turns no other around.
        const label = notes.map(({ date, text }) => `${formatDate(date)}: \u2068${text}\u2069`).join("; ");
        const [{ url } = { url: undefined }, ...others] = notes;
        const mark = (
          <>
            <title>{label}</title>
            <circle cx={percentOf(index, count)} cy="10" r="6" />
            <Beside label={labels.get(index)} x={percentOf(index, count)} />
          </>
        );
        return url !== undefined && others.length === 0 ? (
          <a href={url} rel="noopener noreferrer" aria-label={label}>
            {mark}
          </a>
        ) : (
          <g tabIndex={0} role="img" aria-label={label}>
            {mark}
          </g>
        );
      })}
    </svg>
  );
}

function Beside({ label, x }: { label: NoteLabel | undefined; x: string }) {
  if (label === undefined) return null;
  const { text, side, step } = label;
  const [dx, anchor] = side === "right" ? ["10", "start"] : ["-10", "end"];
  return (
    <text class={`from-${step}`} x={x} dx={dx} y="14" text-anchor={anchor}>
      {`\u2068${text}\u2069`}
    </text>
  );
}

/** The cell of a place in the chart's table. */
export function NoteTexts({ placed, index }: { placed: readonly PlacedNotes[]; index: number }) {
  const notes = placed.find((each) => each.index === index)?.notes ?? [];
  return (
    <>
      {notes.map(({ text, url }, at) => (
        <>
          {at > 0 && "; "}
          {url === undefined ? (
            <bdi>{text}</bdi>
          ) : (
            <a href={url} rel="noopener noreferrer">
              <bdi>{text}</bdi>
            </a>
          )}
        </>
      ))}
    </>
  );
}

/** The further column of a chart's table, where there is a note. */
export function noteColumn(placed: readonly PlacedNotes[]): { name: string }[] {
  return placed.length === 0 ? [] : [{ name: "Annotations" }];
}
