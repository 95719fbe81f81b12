import type { ComponentChildren } from "preact";

export interface Tab {
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
