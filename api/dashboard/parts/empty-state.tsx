import type { ComponentChildren } from "preact";

/** In place of something that is not there yet: a sentence, and how it comes to be. */
export function EmptyState({ title, children }: { title: string; children?: ComponentChildren }) {
  return (
    <section class="empty">
      <h2>{title}</h2>
      {children}
    </section>
  );
}
