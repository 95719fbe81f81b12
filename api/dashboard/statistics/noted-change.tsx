import type { Note } from "../../web/charts/notes.js";
import { Change } from "../../web/parts/panel.js";

/** A growth whose days have a note is explained by it, and not raised in colour. */
export function NotedChange({ ratio, note }: { ratio: number | null; note: Note | undefined }) {
  if (note === undefined || (ratio ?? 1) <= 0) return <Change ratio={ratio} />;
  return (
    <span class="noted">
      <Change ratio={ratio} />
      <span class="soft small">
        Annotation: <bdi>{note.text}</bdi>
      </span>
    </span>
  );
}
