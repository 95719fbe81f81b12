import leven from "leven";

const NEAR_MAX = 5;
/** A name that has the text in it is near from this length on. */
const PART_MIN = 3;

/** The names that somebody may have meant who typed this, nearest first. */
export function nearNames<Named extends { name: string }>(wanted: string, named: readonly Named[]): Named[] {
  const text = wanted.toLowerCase();
  return named
    .map((each) => ({ each, distance: distanceOf(text, each.name.toLowerCase()) }))
    .filter(({ distance }) => distance <= Math.ceil(text.length / 4))
    .sort((one, other) => one.distance - other.distance)
    .slice(0, NEAR_MAX)
    .map(({ each }) => each);
}

function distanceOf(text: string, name: string): number {
  const isPart =
    text.length >= PART_MIN && (name.includes(text) || (name.length >= PART_MIN && text.includes(name)));
  return isPart ? 1 : leven(text, name);
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
