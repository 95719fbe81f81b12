import type { ComponentChildren } from "preact";
import type { GuideName } from "../guide-files.js";
import { GuideLink } from "./guide-link.js";
import { UNCHANGED_BELOW, formatChange, formatCount, formatFull } from "./format.js";

interface PanelProps {
  title: string;
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
  about?: ComponentChildren;
  /** The page of the guide that explains this one. */
  guide?: GuideName;
  children?: ComponentChildren;
}

export function PageHead({ title, about, guide, children }: PageHeadProps) {
  return (
    <div class="head">
      <div>
        <h1>{title}</h1>
        {(about ?? guide) !== undefined && (
          <p class="soft">
            {about} {guide !== undefined && <GuideLink page={guide}>Learn more</GuideLink>}
          </p>
        )}
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

interface TileContent {
  label: string;
  value: number;
  /** Against the previous period, as a ratio: 0.1 is 10 % more. Null where nothing can be compared; absent: not asked. */
  change?: number | null | undefined;
  /** For scripts that move the number. */
  name?: string;
  children?: ComponentChildren;
}

export function Tiles({ tiles }: { tiles: readonly TileContent[] }) {
  return (
    <dl class="tiles">
      {tiles.map(({ label, value, change, name, children }) => (
        <div class="tile">
          <dt>{label}</dt>
          <dd>
            <data class="figure" value={String(value)} title={formatFull(value)} data-count={name}>
              {formatCount(value)}
            </data>
            {change !== undefined && <Change ratio={change} />}
            {children}
          </dd>
        </div>
      ))}
    </dl>
  );
}

/** How a number changed against the previous period: an arrow, a colour and words, since a colour alone says nothing. */
export function Change({ ratio }: { ratio: number | null }) {
  if (ratio === null) return <span class="change soft">new</span>;
  if (Math.abs(ratio) < UNCHANGED_BELOW) return <span class="change soft">±0 %</span>;
  const kind = ratio > 0 ? "up" : "down";
  return (
    <span class={`change ${kind}`}>
      <span aria-hidden="true">{ARROWS[kind]}</span>
      <span class="hidden">{kind} </span>
      {formatChange(ratio)}
    </span>
  );
}

const ARROWS = { up: "↑", down: "↓" } as const;

export type BadgeKind = "good" | "bad" | "warn" | "busy" | "plain";

/** A state in a word. Its colour says nothing that the word does not say. */
export function Badge({ kind = "plain", children }: { kind?: BadgeKind; children: ComponentChildren }) {
  return <span class={`badge ${kind}`}>{children}</span>;
}
