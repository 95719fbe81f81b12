/** Keys for links of the page (`data-key`), and `?` for the list of them. */
export function listenForKeys(): void {
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || isTyping(event.target)) return;
    if (event.key === "?") return toggleHelp();
    if (event.key === "Escape" && closeHelp()) return;
    if (event.key === "/") return focusSearch(event);
    const link = linkFor(event.key);
    if (link === undefined || document.querySelector("details.menu[open]") !== null) return;
    rememberScroll(link.pathname);
    link.click();
  });
}

function focusSearch(event: KeyboardEvent): void {
  event.preventDefault();
  document.querySelector<HTMLInputElement>("[data-search]")?.focus();
}

const links = () => [...document.querySelectorAll<HTMLAnchorElement>("a[data-key]")];

function linkFor(key: string): HTMLAnchorElement | undefined {
  return links().find((link) => link.dataset["key"] === key);
}

function isTyping(target: EventTarget | null): boolean {
  return target instanceof Element && target.closest("input, textarea, select") !== null;
}

let help: HTMLDialogElement | undefined;

function toggleHelp(): void {
  if (closeHelp()) return;
  help = document.createElement("dialog");
  help.setAttribute("aria-label", "Keyboard shortcuts");
  const list = document.createElement("dl");
  const shown = links().map((link) => [link.dataset["key"] ?? "", link.textContent ?? ""]);
  for (const [key = "", meaning = ""] of [
    ...shown,
    ["← →", "Move along the chart"],
    ["Enter", "Open the selected day"],
    ["/", "Search"],
    ["?", "Show shortcuts"],
  ]) {
    const name = document.createElement("dt");
    const text = document.createElement("dd");
    name.append(Object.assign(document.createElement("kbd"), { textContent: key }));
    text.textContent = meaning;
    list.append(name, text);
  }
  const title = Object.assign(document.createElement("h2"), { textContent: "Keyboard shortcuts" });
  help.append(title, list);
  help.addEventListener("close", () => help?.remove());
  help.addEventListener("click", () => help?.close());
  document.body.append(help);
  help.showModal();
}

function closeHelp(): boolean {
  const isOpen = help?.open ?? false;
  if (isOpen) help?.close();
  return isOpen;
}

/** Closes an open menu by Escape and by a click beside it. */
export function closeMenus(): void {
  const openMenus = () => document.querySelectorAll<HTMLDetailsElement>("details.menu[open]");
  document.addEventListener("keydown", ({ key }) => {
    if (key !== "Escape") return;
    for (const menu of openMenus()) {
      menu.open = false;
      menu.querySelector("summary")?.focus();
    }
  });
  document.addEventListener("click", ({ target }) => {
    for (const menu of openMenus()) if (!menu.contains(target as Node)) menu.open = false;
  });
}

/** Shows the buttons beside lines to copy, and lets them copy. */
export function addCopyButtons(): void {
  // Absent on pages that were not loaded by https, except from this machine.
  if (navigator.clipboard === undefined) return;
  for (const button of document.querySelectorAll<HTMLButtonElement>("button[data-copy]")) {
    button.hidden = false;
    button.addEventListener("click", () => void copy(button));
  }
}

/** The table of a chart as spreadsheets take it: a tab between cells. */
function tableText(table: HTMLTableElement): string {
  const lines = [...table.rows].map((row) => [...row.cells].map(({ textContent }) => textContent ?? ""));
  return lines.map((cells) => cells.join("\t")).join("\n");
}

const SHOWN_MS = 1500;

async function copy(button: HTMLButtonElement): Promise<void> {
  const { parentElement: parent } = button;
  const table = parent?.querySelector("table");
  const text = table ? tableText(table) : (parent?.querySelector("code")?.textContent ?? "");
  await navigator.clipboard.writeText(text);
  button.textContent = "Copied";
  setTimeout(() => (button.textContent = "Copy"), SHOWN_MS);
}

/** Times that are pointed at say what the viewer's clock said. */
export function addLocalTimes(): void {
  for (const time of document.querySelectorAll<HTMLTimeElement>("time[title]"))
    time.title += `\n${new Date(time.dateTime).toLocaleString("en-GB", { timeZoneName: "short" })}`;
}

const KEY = "scroll";

/** A link that only changes what the page shows leaves the page where it was. */
export function keepScroll(): void {
  const kept = sessionStorage.getItem(KEY);
  sessionStorage.removeItem(KEY);
  const [path, top] = kept === null ? [] : (JSON.parse(kept) as [string, number]);
  if (path === location.pathname && top !== undefined) scrollTo({ top, behavior: "instant" });
  document.addEventListener("click", ({ target }) => {
    const link = (target as Element).closest<HTMLAnchorElement>("a[data-keep], .choices a");
    if (link !== null) rememberScroll(link.pathname);
  });
}

export function rememberScroll(pathname: string): void {
  sessionStorage.setItem(KEY, JSON.stringify([pathname, scrollY]));
}
