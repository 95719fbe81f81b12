import { useVisit } from "../page.js";
import { countryName, formatFull, formatShare, formatShort } from "../parts/format.js";
import { WORLD_CODES } from "./world-codes.js";

interface CountryCount {
  code: string;
  count: number;
}

/** Small countries such as Singapore are dots. The list beside it is its table. */
export function WorldMap({ counts, unit }: { counts: readonly CountryCount[]; unit: string }) {
  const { asset } = useVisit();
  const file = asset("world.svg");
  const greatest = Math.max(1, ...counts.map(({ count }) => count));
  const all = counts.reduce((sum, { count }) => sum + count, 0);
  return (
    <figure class="map">
      <svg class="world" viewBox="0 0 960 440" role="img" aria-label={sentenceFor(counts, unit)}>
        <use href={`${file}#world`} class="q0" />
        {counts
          .filter(({ code }) => WORLD_CODES.has(code))
          .map(({ code, count }) => (
            <use href={`${file}#${code}`} class={stepOf(count, greatest)} data-value={code}>
              <title>{`${countryName(code)}: ${formatFull(count)} ${unit}, ${formatShare(count / all)}`}</title>
            </use>
          ))}
      </svg>
      {counts.length > 0 && <MapScale greatest={greatest} unit={unit} />}
    </figure>
  );
}

const STEPS = 5;

/** From how many on a country has each colour. */
function MapScale({ greatest, unit }: { greatest: number; unit: string }) {
  const least = Array.from({ length: STEPS }, (_, step) =>
    Math.max(1, Math.ceil(greatest * (step / STEPS) ** 2)),
  );
  const steps = least.filter((from, step) => from !== least[step - 1]);
  return (
    <figcaption class="legend" aria-hidden="true">
      {steps.map((from) => (
        <span class="key">
          <svg viewBox="0 0 14 10" width="14" height="10">
            <rect width="14" height="10" rx="2" class={stepOf(from, greatest)} />
          </svg>
          {formatShort(from)}+
        </span>
      ))}
      <span>{unit}</span>
    </figcaption>
  );
}

/** Few countries have most of the downloads: steps of the square root show the others too. */
function stepOf(count: number, greatest: number): string {
  const part = Math.sqrt(count / greatest);
  return `q${Math.min(STEPS, 1 + Math.floor(part * STEPS))}`;
}

function sentenceFor(counts: readonly CountryCount[], unit: string): string {
  if (counts.length === 0) return "World map: no data for this period.";
  const top = counts.slice(0, 3).map(({ code, count }) => `${countryName(code)} ${formatFull(count)}`);
  return `World map of ${unit} by country. Top countries: ${top.join(", ")}.`;
}
