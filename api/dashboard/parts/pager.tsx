import { useVisit } from "../page.js";

interface PagerProps {
  /** The API's `next`, the whole URL of the next page of its list; its `after` is taken over. */
  next: string | undefined;
}

/** Leads to the next page of a list, and back to the first. Keeps the other parameters of the page's own address. */
export function Pager({ next }: PagerProps) {
  const { here, query, href } = useVisit();
  const after = next === undefined ? undefined : (new URL(next).searchParams.get("after") ?? undefined);
  const isFirst = !query.has("after");
  if (isFirst && after === undefined) return null;
  const to = (place: string | undefined) => {
    const others = [...query].filter(([name]) => name !== "after" && name !== "notice");
    const all = new URLSearchParams(others);
    if (place !== undefined) all.set("after", place);
    return `${href(here)}${all.size > 0 ? `?${all.toString()}` : ""}`;
  };
  return (
    <nav class="pager" aria-label="Pages">
      {!isFirst && (
        <a class="button" href={to(undefined)}>
          First page
        </a>
      )}
      {after !== undefined && (
        <a class="button" href={to(after)} rel="next">
          Next page
        </a>
      )}
    </nav>
  );
}
