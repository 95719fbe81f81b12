import { poll } from "./poll.js";

const EVERY_MS = 3000;

/** Turns "waiting for your first event" into the chart, as soon as there is one. */
export function awaitFirstEvent(): void {
  const address = document.querySelector<HTMLElement>("[data-wait]")?.dataset["wait"];
  if (address === undefined) return;
  const isDone = ({ totals }: { totals: { downloads: number; views: number } }) =>
    totals.downloads + totals.views > 0;
  void poll(address, { everyMs: EVERY_MS, isDone }).then(() => location.reload());
}
