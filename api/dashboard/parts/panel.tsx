import type { ComponentChildren } from "preact";

interface PanelProps {
  title: string;
  /** Links at the right of the title. */
  links?: ComponentChildren;
  children: ComponentChildren;
}

/** A titled box. Boxes inside of `class="grid"` stand in two columns. */
export function Panel({ title, links, children }: PanelProps) {
  return (
    <section class="panel">
      <header>
        <h2>{title}</h2>
        {links !== undefined && <div class="links">{links}</div>}
      </header>
      {children}
    </section>
  );
}
