import { rememberScroll } from "./controls.js";

interface Chart {
  /** The first day of each place. */
  dates: readonly string[];
  placeAt: (event: MouseEvent) => number;
  /** The place whose numbers are shown. */
  shown: () => number;
}

/** Days that are drawn over become the range of the page, as does the one that is clicked; Enter opens the one that is shown. */
export function chooseDays(frame: HTMLElement, { dates, placeAt, shown }: Chart): void {
  const last = document.querySelector<HTMLInputElement>("#lastDate")?.value;
  // The page has no range to choose, or its places are hours.
  if (last === undefined || dates[0]?.includes("T")) return;
  const band = document.createElement("div");
  band.className = "band";
  band.hidden = true;
  frame.append(band);
  let from: number | undefined;
  const open = (one: number, other: number) => {
    const [first, end] = [Math.min(one, other), Math.max(one, other)];
    openDays(dates[first] ?? "", end + 1 < dates.length ? dayBefore(dates[end + 1] ?? "") : last);
  };
  frame.addEventListener("pointerdown", (event) => {
    if (event.pointerType === "mouse" && event.button === 0) from = placeAt(event);
  });
  frame.addEventListener("pointermove", (event) => {
    if (from === undefined) return;
    const parts = [from, placeAt(event)].map((place) => (place / (dates.length - 1)) * 100);
    band.style.left = `${Math.min(...parts)}%`;
    band.style.width = `${Math.max(...parts) - Math.min(...parts)}%`;
    band.hidden = false;
  });
  frame.addEventListener("pointerup", (event) => {
    if (from !== undefined) open(from, placeAt(event));
    from = undefined;
  });
  frame.addEventListener("pointerleave", () => {
    from = undefined;
    band.hidden = true;
  });
  frame.addEventListener("keydown", ({ key }) => {
    if (key === "Enter") open(shown(), shown());
  });
}

const CAME_FROM = "chosen-days";

function openDays(startDate: string, lastDate: string): void {
  const url = new URL(location.href);
  for (const name of ["days", "month", "endDate", "interval", "after", "notice"])
    url.searchParams.delete(name);
  url.searchParams.set("startDate", startDate);
  url.searchParams.set("lastDate", lastDate);
  if (url.href === location.href) return;
  rememberScroll(location.pathname);
  sessionStorage.setItem(CAME_FROM, url.href);
  location.assign(url);
}

/** Escape goes back to the range in which days were chosen. */
export function leaveDays(): void {
  if (sessionStorage.getItem(CAME_FROM) !== location.href) return;
  document.addEventListener("keydown", ({ key }) => {
    if (key === "Escape" && document.querySelector("details.menu[open], dialog[open]") === null)
      history.back();
  });
}

function dayBefore(date: string): string {
  return new Date(Date.parse(date) - 86_400_000).toISOString().slice(0, 10);
}
