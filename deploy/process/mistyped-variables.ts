/** Letters that a name may be away from ours. Long names have few neighbours of another meaning. */
const SLIPS = { short: 1, long: 2 } as const;
const LONG_FROM = 15;

/**
 * One sentence for each set variable that looks like one of ours with a slip of the keyboard: a letter too much, too few
 * or wrong, two that changed places, a singular for a plural, or lower case. Short words are names of other programs as
 * well, so for these only some slips count. Links of Kubernetes to its services are no slips, such as
 * `COLLECTS_PORT=tcp://10.0.0.1:8081`.
 */
export function mistypedVariables(
  env: Readonly<Record<string, string | undefined>>,
  ours: readonly string[],
): string[] {
  return Object.entries(env).flatMap(([name, value]) => {
    if (!value || ours.includes(name) || SERVICE_LINK.test(value)) return [];
    const [nearest] = ours
      .filter((each) => isMistyped(name, each))
      .toSorted((a, b) => countSlips(name, a) - countSlips(name, b));
    return nearest === undefined ? [] : [`${name} is unknown. Did you mean ${nearest}?`];
  });
}

const SERVICE_LINK = /^(tcp|udp|sctp):\/\//;

function isMistyped(name: string, meant: string): boolean {
  if (WORDS.test(name) && WORDS.test(meant))
    return isNear(name, meant) || isNear(singular(name), singular(meant));
  if (WORDS.test(meant))
    return (
      name.toUpperCase().replaceAll("-", "_") === meant || (name.length >= WHOLE_FROM && isNear(name, meant))
    );
  return WORD.test(name) && (isSwapped(name, meant) || isNearWord(name, meant));
}

const WORD = /^[A-Z]+$/;
const WORDS = /^[A-Z]+(_[A-Z]+)+$/;
/** Two of our words as one. Shorter ones are common, such as `DATADIR` and `LOGLEVEL`. */
const WHOLE_FROM = 11;
/** `PORTS`, `HOSTS`, `POST` and `COST` are names of others; `ROLE` and `QUOTA` hardly are. */
const WORD_FROM = 5;

function isNearWord(name: string, meant: string): boolean {
  if (meant.length < WORD_FROM) return false;
  if (singular(name) === singular(meant)) return true;
  // Another letter makes another word: `QUOTES`.
  return meant.length > WORD_FROM && name.length !== meant.length && isNear(name, meant);
}

function isNear(name: string, meant: string): boolean {
  const slipsMax = name.length >= LONG_FROM ? SLIPS.long : SLIPS.short;
  return Math.abs(name.length - meant.length) <= slipsMax && countSlips(name, meant) <= slipsMax;
}

function isSwapped(name: string, meant: string): boolean {
  return (
    name.length === meant.length &&
    [...name].sort().join() === [...meant].sort().join() &&
    isNear(name, meant)
  );
}

function singular(name: string): string {
  return name
    .split("_")
    .map((word) => word.replace(/IES$/, "Y").replace(/([^S])S$/, "$1"))
    .join("_");
}

/** The optimal string alignment distance: letters that are added, left out or changed, and neighbours that are swapped. */
function countSlips(name: string, meant: string): number {
  let [before, last] = [[] as number[], Array.from({ length: meant.length + 1 }, (_, at) => at)];
  for (let row = 1; row <= name.length; row++) {
    const next = [row];
    for (let at = 1; at <= meant.length; at++) {
      const isSame = name[row - 1] === meant[at - 1];
      const swapped = row > 1 && at > 1 && name[row - 1] === meant[at - 2] && name[row - 2] === meant[at - 1];
      const ways = [
        (last[at] ?? 0) + 1,
        (next[at - 1] ?? 0) + 1,
        (last[at - 1] ?? 0) + Number(!isSame),
        swapped ? (before[at - 2] ?? 0) + 1 : Infinity,
      ];
      next.push(Math.min(...ways));
    }
    [before, last] = [last, next];
  }
  return last[meant.length] ?? 0;
}
