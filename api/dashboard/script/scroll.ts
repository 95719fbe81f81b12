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
