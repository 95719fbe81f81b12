import type { ComponentChildren } from "preact";

interface PanelProps {
  title: string;
  /** Links at the right of the title. */
  links?: ComponentChildren;
  /** Takes the whole width of a grid. */
  isWide?: boolean;
  children: ComponentChildren;
}

/** A titled box. Boxes inside of `class="grid"` stand beside each other. */
export function Panel({ title, links, isWide, children }: PanelProps) {
  return (
    <section class={isWide ? "panel wide" : "panel"}>
      <header>
        <h2>{title}</h2>
        {links !== undefined && <div class="links">{links}</div>}
      </header>
      {children}
    </section>
  );
}
