import type { ComponentChildren } from "preact";

export interface Column {
  name: string;
  /** Aligned right, with digits of one width. */
  isNumber?: boolean;
  /** Its name is for screen readers only. */
  isUnnamed?: boolean;
}

interface TableProps {
  /** Says what the table holds. */
  caption: string;
  /** Shown above the table; else for screen readers only. */
  showCaption?: boolean;
  columns: readonly Column[];
  /** One cell a column. The first names its row. */
  rows: readonly (readonly ComponentChildren[])[];
  /** In place of a table without rows. */
  empty?: ComponentChildren;
}

/** A table that scrolls sideways by itself where the window is narrow. */
export function Table({ caption, showCaption, columns, rows, empty }: TableProps) {
  if (rows.length === 0 && empty !== undefined) return <p class="none">{empty}</p>;
  return (
    <div class="scroll" role="region" aria-label={caption} tabIndex={0}>
      <table>
        <caption class={showCaption ? undefined : "hidden"}>{caption}</caption>
        <thead>
          <tr>
            {columns.map(({ name, isNumber, isUnnamed }) => (
              <th scope="col" class={isNumber ? "number" : undefined}>
                {isUnnamed ? <span class="hidden">{name}</span> : name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((cells) => (
            <tr>
              {cells.map((cell, index) => {
                const kind = columns[index]?.isNumber ? "number" : undefined;
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
