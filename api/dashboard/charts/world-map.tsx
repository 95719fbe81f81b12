import { useVisit } from "../page.js";
import { formatFull } from "../parts/format.js";
import { WORLD_CODES } from "./world-codes.js";
import { countryName } from "./country-name.js";

export interface CountryCount {
  /** ISO 3166-1 alpha-2. */
  code: string;
  count: number;
}

/**
 * The world with countries in five steps of colour. The shapes are one cached file, of which the page only names parts.
 * Countries too small for it, such as Singapore, are in the list beside it. Its numbers are the list's table.
 */
export function WorldMap({ counts, unit }: { counts: readonly CountryCount[]; unit: string }) {
  const { asset } = useVisit();
  const file = asset("world.svg");
  const greatest = Math.max(1, ...counts.map(({ count }) => count));
  return (
    <svg class="world" viewBox="0 0 960 440" role="img" aria-label={sentenceFor(counts, unit)}>
      <use href={`${file}#world`} class="q0" />
      {counts
        .filter(({ code }) => WORLD_CODES.has(code))
        .map(({ code, count }) => (
          <use href={`${file}#${code}`} class={stepOf(count, greatest)} data-value={code}>
            <title>{`${countryName(code)}: ${formatFull(count)} ${unit}`}</title>
          </use>
        ))}
    </svg>
  );
}

/** Few countries have most of the downloads: steps of the square root show the others too. */
function stepOf(count: number, greatest: number): string {
  const part = Math.sqrt(count / greatest);
  return `q${Math.min(5, 1 + Math.floor(part * 5))}`;
}

function sentenceFor(counts: readonly CountryCount[], unit: string): string {
  if (counts.length === 0) return "World map: no countries in this range.";
  const top = counts.slice(0, 3).map(({ code, count }) => `${countryName(code)} ${formatFull(count)}`);
  return `World map of ${unit} by country; most are from ${top.join(", ")}.`;
}
