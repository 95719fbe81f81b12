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
