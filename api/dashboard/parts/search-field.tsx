import { useVisit } from "../page.js";

/** Leads to the page that lists what is found. The key `/` goes to the field. */
export function SearchField() {
  const { href, here, query } = useVisit();
  const text = here === "/search" ? (query.get("q") ?? "") : "";
  return (
    <form method="get" action={href("/search")} class="search" role="search" aria-label="Everything">
      <input
        type="search"
        name="q"
        aria-label="Find packages, companies and pages"
        placeholder="Search"
        maxLength={256}
        value={text}
        data-search
      />
    </form>
  );
}
