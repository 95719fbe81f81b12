/** Shows the buttons beside lines to copy, and lets them copy. */
export function addCopyButtons(): void {
  // Absent on pages that were not loaded by https, except from this machine.
  if (navigator.clipboard === undefined) return;
  for (const button of document.querySelectorAll<HTMLButtonElement>("button[data-copy]")) {
    button.hidden = false;
    button.addEventListener("click", () => void copy(button));
  }
}

const SHOWN_MS = 1500;

async function copy(button: HTMLButtonElement): Promise<void> {
  const text = button.parentElement?.querySelector("code")?.textContent ?? "";
  await navigator.clipboard.writeText(text);
  button.textContent = "Copied";
  setTimeout(() => (button.textContent = "Copy"), SHOWN_MS);
}
