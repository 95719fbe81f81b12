import { useVisit } from "../page.js";

interface SearchFieldProps {
  /** For screen readers. */
  label?: string;
  text?: string;
}

/** Leads to the page that lists what is found. The key `/` goes to the first field of a page. */
export function SearchField({ label = "Search", text }: SearchFieldProps) {
  const { href, here, query } = useVisit();
  const searched = here === "/search" ? (query.get("q") ?? "") : "";
  return (
    <form method="get" action={href("/search")} class="search" role="search" aria-label={label}>
      <input
        type="search"
        name="q"
        aria-label="Search packages, companies and pages"
        placeholder="Search"
        maxLength={256}
        value={text ?? searched}
        data-search
      />
    </form>
  );
}
