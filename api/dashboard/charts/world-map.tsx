import { useVisit } from "../page.js";
import { countryName, formatFull } from "../parts/format.js";

interface CountryCount {
  code: string;
  count: number;
}

/** Small countries such as Singapore have no shape: they are in the list beside it, which is its table as well. */
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

/** The countries that `assets/world.svg` has a shape of; written by `test/support/dashboard/print-world.ts`. */
const WORLD_CODES: ReadonlySet<string> = new Set(
  `AE AF AL AM AO AR AT AU AZ BA BD BE BF BG BI BJ BN BO BR BS BT BW BY BZ CA CD CF CG CH CI CL CM CN CO CR CU
CY CZ DE DJ DK DO DZ EC EE EG EH ER ES ET FI FJ FK FR GA GB GE GH GL GM GN GQ GR GT GW GY HN HR HT HU ID IE
IL IN IQ IR IS IT JM JO JP KE KG KH KP KR KW KZ LA LB LK LR LS LT LU LV LY MA MD ME MG MK ML MM MN MR MW MX
MY MZ NA NC NE NG NI NL NO NP NZ OM PA PE PG PH PK PL PR PS PT PY QA RO RS RU RW SA SB SD SE SI SK SL SN SO
SR SS SV SY SZ TD TF TG TH TJ TL TM TN TR TT TW TZ UA UG US UY UZ VE VN VU XK YE ZA ZM ZW`.split(/\s+/),
);
