import type { LiveEvent } from "../../../schemas/contracts/live-event.js";
import { livePartsOf } from "./live-parts.js";

const ROWS_MAX = 50;
const places = new Intl.DisplayNames(["en"], { type: "region", fallback: "code" });
const placeName = (code: string) => places.of(code) ?? code;

/** Adds what arrives, while the page is seen and not paused. */
export function followEvents(section: HTMLElement): void {
  const find = <Found extends HTMLElement>(name: string) =>
    section.querySelector<Found>(`[data-live-${name}]`) ?? undefined;
  const state = find("state");
  const pause = find("pause");
  let source: EventSource | undefined;
  let isPaused = false;

  const say = (text: string) => state?.replaceChildren(text);
  const close = () => {
    source?.close();
    source = undefined;
  };
  const open = () => {
    close();
    if (isPaused || document.hidden) return;
    source = new EventSource(section.dataset["live"] ?? "");
    source.onopen = () => say("Downloads and page views as they happen.");
    source.onmessage = ({ data }) => add(section, JSON.parse(data as string) as LiveEvent);
    source.onerror = () => {
      const isOver = source?.readyState === EventSource.CLOSED;
      say(isOver ? "Live updates ended. Refresh the page." : "Connection lost. Reconnecting…");
    };
  };

  pause?.addEventListener("click", () => {
    isPaused = !isPaused;
    pause.textContent = isPaused ? "Resume" : "Pause";
    if (isPaused) say("Paused.");
    open();
  });
  document.addEventListener("visibilitychange", open);
  const wide = find("wide");
  wide?.addEventListener("click", () => void section.requestFullscreen());
  if (pause !== undefined) pause.hidden = false;
  if (wide !== undefined) wide.hidden = !document.fullscreenEnabled;
  open();
}

/** An event that is there already, from the page or after a break, is not shown again. */
function add(section: HTMLElement, event: LiveEvent): void {
  const list = section.querySelector("[data-live-list]");
  const template = section.querySelector<HTMLTemplateElement>("[data-live-row]");
  const isKnown = list?.querySelector(`[data-id="${CSS.escape(event.id)}"]`) !== null;
  const row = template?.content.firstElementChild?.cloneNode(true) as HTMLElement | undefined;
  if (list === null || row === undefined || isKnown) return;
  row.dataset["id"] = event.id;
  row.classList.add("new");
  for (const [name, text] of Object.entries(livePartsOf(event, placeName)))
    row.querySelector(`[data-part="${name}"]`)?.replaceChildren(text);
  list.prepend(row);
  while (list.childElementCount > ROWS_MAX) list.lastElementChild?.remove();
  section.querySelector<HTMLElement>("[data-live-none]")?.setAttribute("hidden", "");
}
