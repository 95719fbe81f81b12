import type { Page } from "playwright-core";

/** The tables of a page by their captions: rows of cells. Numbers are as machines write them. */
export function readTables(page: Page): Promise<Record<string, string[][]>> {
  return page.locator("table").evaluateAll((tables) => {
    const textOf = (cell: Element) =>
      cell.querySelector("data")?.getAttribute("value") ??
      cell.querySelector("time")?.getAttribute("datetime") ??
      (cell.textContent ?? "").trim();
    return Object.fromEntries(
      tables.map((table) => [
        table.querySelector("caption")?.textContent ?? "",
        Array.from(table.querySelectorAll("tbody tr"), (row) => Array.from(row.children, textOf)),
      ]),
    );
  });
}

/** The large numbers by their labels, exactly. */
export function readTiles(page: Page): Promise<Record<string, number>> {
  return page
    .locator(".tile")
    .evaluateAll((tiles) =>
      Object.fromEntries(
        tiles.map((tile) => [
          tile.querySelector(".label, dt")?.textContent ?? "",
          Number(tile.querySelector("data")?.getAttribute("value")),
        ]),
      ),
    );
}
