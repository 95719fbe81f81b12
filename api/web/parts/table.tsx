import type { ComponentChildren } from "preact";
import { useVisit } from "../page.js";

export interface Column {
  name: string;
  /** Aligned right, with digits of one width. */
  isNumber?: boolean;
  /** Its name is for screen readers only. */
  isUnnamed?: boolean;
  isMinor?: boolean;
  /** The class of its layer in a chart, which the script shows beside its numbers. */
  color?: string;
  /** Where the rows are sorted by it. */
  href?: string;
  sorted?: "ascending" | "descending" | undefined;
}

interface TableProps {
  caption: string;
  /** Shown above the table; else for screen readers only. */
  showCaption?: boolean;
  columns: readonly (Column | string)[];
  /** One cell a column. The first names its row. */
  rows: readonly (readonly ComponentChildren[])[];
  empty?: ComponentChildren;
  /** Rows are blocks of text where the window is narrow: for long texts. */
  isStacked?: boolean;
}

/** A table that scrolls sideways by itself where the window is narrow. */
export function Table({ caption, showCaption, columns: asked, rows, empty, isStacked }: TableProps) {
  if (rows.length === 0 && empty !== undefined) return <p class="none">{empty}</p>;
  const columns = asked.map((column) => (typeof column === "string" ? { name: column } : column));
  return (
    <div class="scroll" role="region" aria-label={caption} tabIndex={0}>
      <table class={isStacked ? "stacked" : undefined}>
        <caption class={showCaption ? undefined : "hidden"}>{caption}</caption>
        <thead>
          <tr>
            {columns.map((column) => (
              <th scope="col" class={kindOf(column)} data-color={column.color} aria-sort={column.sorted}>
                <ColumnName column={column} />
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((cells) => (
            <tr>
              {cells.map((cell, index) => {
                const kind = kindOf(columns[index]);
                return index === 0 ? (
                  <th scope="row" class={kind}>
                    {cell}
                  </th>
                ) : (
                  <td class={kind}>{cell}</td>
                );
              })}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function ColumnName({ column: { name, isUnnamed, href, sorted } }: { column: Column }) {
  if (isUnnamed) return <span class="hidden">{name}</span>;
  if (href === undefined) return name;
  return (
    <a href={href} aria-current={sorted && "true"} data-keep>
      {name}
    </a>
  );
}

function kindOf({ isNumber, isMinor }: Partial<Column> = {}): string | undefined {
  const kinds = [isNumber && "number", isMinor && "minor"].filter(Boolean);
  return kinds.length > 0 ? kinds.join(" ") : undefined;
}

interface PagerProps {
  /** The API's `next`, the whole URL of the next page of its list; its `after` is taken over. */
  next?: string | undefined;
  /** In its place where the page itself cuts the list: the last entry that it shows, if there are more. */
  after?: string | undefined;
}

/** Leads to the next page of a list, and back to the first. Keeps the other parameters of the page's own address. */
export function Pager({ next, after = afterIn(next) }: PagerProps) {
  const { here, query, href } = useVisit();
  const isFirst = !query.has("after");
  if (isFirst && after === undefined) return null;
  const to = (place: string | undefined) => {
    const others = [...query].filter(([name]) => name !== "after" && name !== "notice");
    const all = new URLSearchParams(others);
    if (place !== undefined) all.set("after", place);
    return `${href(here)}${all.size > 0 ? `?${all.toString()}` : ""}`;
  };
  return (
    <nav class="pager" aria-label="Pages">
      {!isFirst && (
        <a class="button" href={to(undefined)}>
          First page
        </a>
      )}
      {after !== undefined && (
        <a class="button" href={to(after)} rel="next">
          Next page
        </a>
      )}
    </nav>
  );
}

function afterIn(next: string | undefined): string | undefined {
  return next === undefined ? undefined : (new URL(next).searchParams.get("after") ?? undefined);
}
