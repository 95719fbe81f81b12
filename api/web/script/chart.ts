import { rememberScroll } from "./controls.js";
import { chooseDays } from "./choose-days.js";

/** Arrow keys go from place to place. The numbers are those of the table below the chart. */
export function pointAtCharts(): void {
  for (const drawing of document.querySelectorAll<HTMLElement>("[data-chart]")) {
    const table = drawing.closest("figure")?.querySelector("table");
    const rows = [...(table?.tBodies[0]?.rows ?? [])];
    if (table && rows.length > 1) point(drawing, { columns: [...(table.tHead?.rows[0]?.cells ?? [])], rows });
  }
}

/** Of the charts of the page, which point at the same day. */
const pointers: { showDate: (date: string) => void; hide: () => void }[] = [];

interface Numbers {
  columns: readonly HTMLTableCellElement[];
  rows: HTMLTableRowElement[];
}

function point(drawing: HTMLElement, { columns, rows }: Numbers): void {
  const line = added(drawing, "pointer-line");
  const tip = added(drawing, "tip");
  // The tip is read out; the drawing itself is an image with a sentence.
  tip.setAttribute("aria-live", "polite");
  const frame = document.createElement("div");
  frame.className = "pointed";
  drawing.replaceWith(frame);
  frame.append(drawing, line, tip);
  frame.tabIndex = 0;
  frame.setAttribute("role", "group");
  frame.setAttribute("aria-label", "Use the arrow keys to read each value");
  let at = rows.length - 1;
  const show = (index: number) => {
    showHere(index);
    for (const other of pointers) if (other !== pointer) other.showDate(dateOf(rows[at]));
  };
  const showHere = (index: number) => {
    at = Math.min(rows.length - 1, Math.max(0, index));
    const part = at / (rows.length - 1);
    line.style.left = `${part * 100}%`;
    tip.replaceChildren(...linesOf(columns, cellsOf(rows[at])));
    line.hidden = tip.hidden = false;
    const room = frame.clientWidth - tip.offsetWidth;
    tip.style.left = `${Math.min(room, Math.max(0, part * frame.clientWidth - tip.offsetWidth / 2))}px`;
  };
  const hide = () => {
    for (const each of pointers) each.hide();
  };
  const pointer = {
    showDate(date: string) {
      const index = rows.findIndex((row) => dateOf(row) === date);
      if (index >= 0) showHere(index);
    },
    hide: () => (line.hidden = tip.hidden = true),
  };
  pointers.push(pointer);
  hide();
  const placeAt = ({ clientX }: MouseEvent) => {
    const { left, width } = frame.getBoundingClientRect();
    return Math.min(rows.length - 1, Math.max(0, Math.round(((clientX - left) / width) * (rows.length - 1))));
  };
  frame.addEventListener("pointermove", (event) => show(placeAt(event)));
  chooseDays(frame, { dates: rows.map(dateOf), placeAt, shown: () => at });
  frame.addEventListener("pointerleave", hide);
  frame.addEventListener("blur", hide);
  frame.addEventListener("keydown", (event) => {
    const step = STEPS[event.key];
    if (step === undefined) return;
    event.preventDefault();
    show(tip.hidden ? at : step(at, rows.length));
  });
}

const STEPS: Readonly<Record<string, (at: number, count: number) => number>> = {
  ArrowLeft: (at) => at - 1,
  ArrowRight: (at) => at + 1,
  Home: () => 0,
  End: (_, count) => count - 1,
};

function dateOf(row: HTMLTableRowElement | undefined): string {
  return row?.querySelector("time")?.dateTime ?? "";
}

function added(parent: HTMLElement, name: string): HTMLElement {
  const element = document.createElement("div");
  element.className = name;
  parent.after(element);
  return element;
}

function linesOf([, ...columns]: Numbers["columns"], [place = "", ...values]: string[]): HTMLElement[] {
  const head = document.createElement("strong");
  head.textContent = place;
  const lines = columns.flatMap(({ textContent: name, dataset }, index) => {
    const value = values[index] ?? "";
    if (value === "") return [];
    const line = document.createElement("span");
    line.textContent = `${name} ${value}`;
    if (dataset["color"] !== undefined) line.dataset["color"] = dataset["color"];
    return [line];
  });
  return [head, ...lines];
}

function cellsOf(row: HTMLTableRowElement | undefined): string[] {
  return [...(row?.cells ?? [])].map((cell) => cell.textContent ?? "");
}

/** A click on a country is a click on its row in the list, if the list has it. */
export function linkMap(): void {
  for (const map of document.querySelectorAll<SVGElement>("svg.world")) {
    map.addEventListener("click", ({ target }) => {
      const code = (target as Element).closest<SVGElement>("[data-value]")?.dataset["value"];
      if (code === undefined) return;
      const links = document.querySelectorAll<HTMLAnchorElement>(".map-and-list a[data-value]");
      const link = [...links].find((each) => each.dataset["value"] === code);
      const address = link?.href ?? addressWith(code);
      rememberScroll(location.pathname);
      location.assign(address);
    });
  }
}

function addressWith(code: string): string {
  const url = new URL(location.href);
  url.searchParams.append("country", code);
  return url.href;
}
