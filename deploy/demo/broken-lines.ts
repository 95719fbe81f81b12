import type { LogType } from "../../schemas/records/import-log.js";
import type { Random } from "./random.js";

/** The parts of a valid line: JSON fields without braces. `target` is empty when the path names the artifact. */
export interface ValidFields {
  target: string;
  time: string;
  rest: string;
}

/** A line with one random defect. The last two kinds of `DEFECTS` are imported with a warning. */
export function brokenLine({ target, time, rest }: ValidFields, random: Random): string {
  const defect = random.pick(DEFECTS);
  if (defect === "missing-artifact" && target === "") return NOT_OBJECTS[0];
  if (defect === "failed-to-decode") return notAnObject(`{${time}${rest}}`, random);
  if (defect === "missing-time") return `{${target}"note":"no time"${rest}}`;
  if (defect === "invalid-time") return `{${target}"$time":${random.pick(WRONG_TIMES)}${rest}}`;
  if (defect === "artifact-not-found") return `{"$package":${random.pick(WRONG_PACKAGES)},${time}${rest}}`;
  if (defect === "missing-artifact") return `{${time}${rest}}`;
  if (defect === "invalid-value") return `{${target}${time}${rest},${random.pick(WRONG_VALUES)}}`;
  // JSON.parse keeps the later of two equal names, so these replace a valid field.
  if (defect === "unknown-property") return `{${target}${time}${rest},${random.pick(UNKNOWN_PROPERTIES)}}`;
  return `{${target}${time}${rest},"$remote_address":${random.pick(WRONG_ADDRESSES)}}`;
}

const DEFECTS: readonly LogType[] = [
  "failed-to-decode",
  "missing-time",
  "invalid-time",
  "artifact-not-found",
  "missing-artifact",
  "invalid-value",
  "invalid-remote-address",
  "unknown-property",
];

const NOT_OBJECTS = [
  "[1,2,3]",
  '"a string"',
  "42",
  "null",
  "download of today",
  "time=1&id=2",
  "{'$time':1}",
] as const;
const WRONG_TIMES = [
  '"yesterday"',
  '"2025-02-30"',
  '"2025-06-01T25:00:00Z"',
  "-5",
  "true",
  '""',
  "99999999999999",
  "[]",
];
const WRONG_PACKAGES = ['"00000000-0000-4000-8000-000000000000"', '"my-package"', "17"];
const WRONG_VALUES = [
  '"$user_agent":42',
  '"$version":{"major":1}',
  '"$unique_id":""',
  '"$unique_id":1.5',
  '"$unique_id":true',
  '"$headers":"User-Agent: curl"',
  '"$headers":[{"name":"User-Agent"}]',
  '"$type":["pull"]',
  `"$version":"${"9".repeat(300)}"`,
  '"$referrer":false',
];
const WRONG_ADDRESSES = [
  '"999.1.2.3"',
  '"localhost"',
  "42",
  '"10.0.0.1:8080"',
  '"1.2.3"',
  '"2001:db8::1::2"',
];
const UNKNOWN_PROPERTIES = ['"$colour":"red"', '"$remote_adress":"192.0.2.7"', '"$ip":"192.0.2.8"', '"$":1'];

function notAnObject(valid: string, random: Random): string {
  if (random.chance(0.6)) return random.pick(NOT_OBJECTS);
  return valid.slice(0, 1 + random.below(valid.length - 1));
}
