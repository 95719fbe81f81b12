import type { LineObject } from "./line-object.js";

/**
 * The keys of a line: those that every event may have by name, each undefined where the line does not have it, and all
 * others in the order in which they were sent. All lines so have one shape, whatever their keys: reading keys from
 * objects of hundreds of shapes took as long as parsing them.
 */
export class LineFields {
  $time: unknown = undefined;
  $unique_id: unknown = undefined;
  $package: unknown = undefined;
  $pixel: unknown = undefined;
  $tracking_pixel: unknown = undefined;
  $remote_address: unknown = undefined;
  $user_agent: unknown = undefined;
  $referrer: unknown = undefined;
  $referer: unknown = undefined;
  $version: unknown = undefined;
  $type: unknown = undefined;
  $domain: unknown = undefined;
  $headers: unknown = undefined;
  /** Custom variables, and `$` keys that are not among the above. */
  readonly otherNames: string[] = [];
  readonly otherValues: unknown[] = [];
}

export function fieldsOf(object: LineObject): LineFields {
  const fields = new LineFields();
  for (const key in object) {
    const value = object[key];
    if (isNamed(key)) fields[key] = value;
    else {
      fields.otherNames.push(key);
      fields.otherValues.push(value);
    }
  }
  return fields;
}

export type NamedKey = Extract<keyof LineFields, `$${string}`>;

const NAMED: ReadonlySet<string> = new Set(Object.keys(new LineFields()).filter((key) => key[0] === "$"));

export function isNamed(key: string): key is NamedKey {
  return NAMED.has(key);
}
