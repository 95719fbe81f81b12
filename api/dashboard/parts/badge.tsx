import type { ComponentChildren } from "preact";

export type BadgeKind = "good" | "bad" | "warn" | "busy" | "plain";

/** A state in a word. Its colour says nothing that the word does not say. */
export function Badge({ kind = "plain", children }: { kind?: BadgeKind; children: ComponentChildren }) {
  return <span class={`badge ${kind}`}>{children}</span>;
}
