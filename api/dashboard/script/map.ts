import { rememberScroll } from "./scroll.js";

/** A click on a country is a click on its row in the list, if the list has it. */
export function linkMap(): void {
  for (const map of document.querySelectorAll<SVGElement>("svg.world")) {
    map.addEventListener("click", ({ target }) => {
      const code = (target as Element).closest<SVGElement>("[data-value]")?.dataset["value"];
      if (code === undefined) return;
      const links = document.querySelectorAll<HTMLAnchorElement>(".map-and-list a[data-value]");
      const link = [...links].find((each) => each.dataset["value"] === code);
      const address = link?.href ?? addressWith(code);
      rememberScroll(location.pathname);
      location.assign(address);
    });
  }
}

function addressWith(code: string): string {
  const url = new URL(location.href);
  url.searchParams.append("country", code);
  return url.href;
}
