/**
 * Writes `api/web/assets/world.svg` and the list of the countries in it, from world-atlas (Natural Earth's 1:110m
 * countries, and the places of those that are too small for it from 1:50m, public domain; packaged by Mike Bostock, ISC).
 * Run it again after an upgrade:
 *
 *     npx tsx test/support/dashboard/print-world.ts
 */
import { readFileSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { geoNaturalEarth1, geoPath } from "d3-geo";
import countries from "i18n-iso-countries";
import { feature } from "topojson-client";
import { presimplify, quantile, simplify } from "topojson-simplify";
import type { GeometryCollection, Topology } from "topojson-specification";

type World = Topology<{ countries: GeometryCollection<{ name: string }> }>;

const WIDTH = 960;
const HEIGHT = 440;
/** The share of points that goes: no coast looks different at the width of a page. */
const LEFT_OUT = 0.5;
const ANTARCTICA = "010";
/** The radius of a country without a shape: large enough to be pointed at. */
const DOT = 4;
/** Without a number of ISO 3166-1 in the atlas. */
const CODES_BY_NAME: Readonly<Record<string, string>> = { Kosovo: "XK" };

const world = readAtlas("110m");
const weighted = presimplify(world);
const simple = simplify(weighted, quantile(weighted, LEFT_OUT));
const shapes = feature(simple, simple.objects.countries).features.filter(({ id }) => id !== ANTARCTICA);
const collection = { type: "FeatureCollection" as const, features: shapes };
const projection = geoNaturalEarth1().fitExtent(
  [
    [2, 2],
    [WIDTH - 2, HEIGHT - 2],
  ],
  collection,
);
const draw = geoPath(projection).digits(1);

const codes: string[] = [];
const paths = shapes.map((shape) => {
  const code = codeOf(shape);
  if (code !== undefined) codes.push(code);
  return `<path${code === undefined ? "" : ` id="${code}"`} d="${draw(shape) ?? ""}"/>`;
});

const detailed = readAtlas("50m");
const dots = feature(detailed, detailed.objects.countries).features.flatMap((shape) => {
  const code = codeOf(shape);
  if (code === undefined || code === "AQ" || codes.includes(code)) return [];
  codes.push(code);
  const [x = 0, y = 0] = draw.centroid(shape).map((place) => Math.round(place * 10) / 10);
  return [`<circle id="${code}" cx="${x}" cy="${y}" r="${DOT}"/>`];
});

writeFileSync(
  "api/web/assets/world.svg",
  `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${HEIGHT}"><g id="world">${paths.join("\n")}</g>
<defs>${dots.join("\n")}</defs></svg>\n`,
);
const list = codes.toSorted().join(" ");
writeFileSync(
  "api/web/charts/world-codes.ts",
  `/** The countries that \`assets/world.svg\` has a shape or a dot of; written by \`test/support/dashboard/print-world.ts\`. */
export const WORLD_CODES: ReadonlySet<string> = new Set(
  \`${list.replace(/(.{1,108})( |$)/g, "$1\n").trim()}\`.split(/\\s+/),
);
`,
);

function readAtlas(scale: "110m" | "50m"): World {
  const source = createRequire(import.meta.url).resolve(`world-atlas/countries-${scale}.json`);
  return JSON.parse(readFileSync(source, "utf8")) as World;
}

function codeOf({
  id,
  properties: { name },
}: {
  id?: string | number | undefined;
  properties: { name: string };
}) {
  return countries.numericToAlpha2(String(id ?? "")) ?? CODES_BY_NAME[name] ?? undefined;
}
