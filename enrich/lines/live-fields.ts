import { isIP } from "node:net";
import { isObject } from "../../schemas/is-object.js";
import { isNamed, LineFields, type NamedKey } from "./line-fields.js";
import { parseTime } from "./parse-time.js";
import { checkTexts, readHeaders, SENT, type Reading } from "./read-event.js";

/** A stranger who sets these could override events and write to other packages and pixels. */
const OWN: ReadonlySet<string> = new Set(["$unique_id", "$package", "$pixel", "$tracking_pixel"]);

/** The bounds of `$time`; see `Reading`. */
type LiveTimes = Required<Pick<Reading, "receivedAt" | "oldestTime">>;

/**
 * Adds the objects of `$sent` to a line of live collection: their keys are those of the line where it has none of this
 * name, and the first object wins. A `$` key takes the place of what the collector knew, `$time` that of the request's
 * time, say. Strangers send them: one whose value would refuse the line is a variable, and no event is lost.
 */
export function liveFields(line: LineFields, times: LiveTimes): LineFields {
  const sent = line.otherValues[line.otherNames.indexOf(SENT)];
  if (!Array.isArray(sent)) return line;
  const names = new Set(line.otherNames);
  for (const object of sent as unknown[]) {
    if (!isObject(object)) continue;
    for (const key in object) {
      if (OWN.has(key) || names.has(key)) continue;
      names.add(key);
      const value = object[key];
      // The collector writes $referrer, which counts before the other spelling.
      if (isNamed(key) && isUsable(key, value, times)) line[key === "$referer" ? "$referrer" : key] = value;
      else {
        line.otherNames.push(key);
        line.otherValues.push(value);
      }
    }
  }
  return line;
}

function isUsable(key: NamedKey, value: unknown, { receivedAt, oldestTime }: LiveTimes): boolean {
  if (value === undefined || value === null) return false;
  if (key === "$time") return (parseTime(value, receivedAt) ?? -1) >= oldestTime;
  if (key === "$remote_address") return typeof value === "string" && isIP(value) !== 0;
  if (key === "$headers") return readHeaders(value) !== undefined;
  const only = new LineFields();
  only[key] = value;
  return checkTexts(only) === undefined;
}
