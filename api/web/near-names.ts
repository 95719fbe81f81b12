import leven from "leven";

const NEAR_MAX = 5;
/** A name that has the text in it is near from this length on. */
const PART_MIN = 3;

/** The names that somebody may have meant who typed this, nearest first. */
export function nearNames<Named extends { name: string }>(wanted: string, named: readonly Named[]): Named[] {
  const text = wanted.toLowerCase();
  const distanceMax = Math.ceil(text.length / 4);
  return named
    .map((each) => ({ each, distance: distanceOf(text, each.name.toLowerCase(), distanceMax) }))
    .filter(({ distance }) => distance <= distanceMax)
    .sort((one, other) => one.distance - other.distance)
    .slice(0, NEAR_MAX)
    .map(({ each }) => each);
}

/** At least as many letters have to be typed as one is longer: most names need no look at their letters. */
function distanceOf(text: string, name: string, distanceMax: number): number {
  const isPart =
    text.length >= PART_MIN && (name.includes(text) || (name.length >= PART_MIN && text.includes(name)));
  if (isPart) return 1;
  return Math.abs(text.length - name.length) > distanceMax ? Infinity : leven(text, name);
}

const WORDS = new Set(["o", "p", "docs", "guide", "packages", "pixels", "all"]);
const ID = /^[0-9a-f]{8}-[0-9a-f-]{27}$/;

/** What an address asks for: the last part of it that is a name. Empty if it has none. */
export function wantedAt(path: string): string {
  const parts = path.split("/").slice(2).map(decoded);
  return (
    parts.findLast((part) => part !== "" && part.length <= 256 && !WORDS.has(part) && !ID.test(part)) ?? ""
  );
}

function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}
