import { closestMatch } from "leven";

/** Letters that a name may be away from ours. Long names have few neighbours of another meaning. */
const DISTANCE = { short: 1, long: 2 } as const;
const LONG_FROM = 15;

/**
 * One sentence for each set variable that looks like one of ours with a slip of the keyboard. Only capitals
 * with a `_` between them count, and no links of Kubernetes to its services, such as
 * `COLLECTS_PORT=tcp://10.0.0.1:8081`.
 */
export function mistypedVariables(
  env: Readonly<Record<string, string | undefined>>,
  ours: readonly string[],
): string[] {
  const spelled = ours.filter((name) => SHAPE.test(name));
  return Object.entries(env).flatMap(([name, value]) => {
    if (!value || ours.includes(name) || !SHAPE.test(name) || SERVICE_LINK.test(value)) return [];
    const nearest = nearestOf(name, spelled);
    return nearest === undefined ? [] : [`${name} is unknown: did you mean ${nearest}?`];
  });
}

const SHAPE = /^[A-Z]+(_[A-Z]+)+$/;
const SERVICE_LINK = /^(tcp|udp|sctp):\/\//;

function nearestOf(name: string, ours: readonly string[]): string | undefined {
  const maxDistance = name.length >= LONG_FROM ? DISTANCE.long : DISTANCE.short;
  return closestMatch(name, ours, { maxDistance }) ?? ours.find((each) => isSwapped(name, each));
}

/** Whether two letters beside each other changed places. */
function isSwapped(a: string, b: string): boolean {
  const at = [...a].findIndex((letter, index) => letter !== b[index]);
  const swapped = a.slice(0, at) + (a[at + 1] ?? "") + (a[at] ?? "") + a.slice(at + 2);
  return at >= 0 && swapped === b;
}
