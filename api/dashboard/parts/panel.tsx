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

interface PageHeadProps {
  title: ComponentChildren;
  /** A line below the title. */
  about?: ComponentChildren;
  /** Buttons and links beside it. */
  children?: ComponentChildren;
}

/** The heading of a page. */
export function PageHead({ title, about, children }: PageHeadProps) {
  return (
    <div class="head">
      <div>
        <h1>{title}</h1>
        {about !== undefined && <p class="soft">{about}</p>}
      </div>
      {children !== undefined && <div class="actions">{children}</div>}
    </div>
  );
}

/** In place of something that is not there yet: a sentence, and how it comes to be. */
export function EmptyState({ title, children }: { title: string; children?: ComponentChildren }) {
  return (
    <section class="empty">
      <h2>{title}</h2>
      {children}
    </section>
  );
}

interface Tab {
  label: ComponentChildren;
  href: string;
  isCurrent: boolean;
}

/** Links of which one is shown. */
export function Tabs({ label, tabs }: { label: string; tabs: readonly Tab[] }) {
  return (
    <nav class="choices" aria-label={label}>
      {tabs.map((tab) => (
        <a href={tab.href} aria-current={tab.isCurrent ? "true" : undefined}>
          {tab.label}
        </a>
      ))}
    </nav>
  );
}
