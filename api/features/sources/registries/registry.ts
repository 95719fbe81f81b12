import { Ajv, type ValidateFunction } from "ajv";
import { isCalendarDate } from "../../../../schemas/formats.js";
import type { Metric } from "../../../../schemas/contracts/source.js";
import type { LibraryType } from "../../../../schemas/records/artifact.js";

/** How one registry is asked for its counts, and how its answers are read. Pure: a runner sends the requests. */
export interface Registry {
  /** Of the API that counts. `SOURCES_URLS` replaces it. */
  url: string;
  /** The registry's name in a sentence. */
  title: string;
  /** What the registry calls its users' things: `package`, `repository`. */
  noun: string;
  name: { pattern: RegExp; example: string };
  /** The page of a thing, for people; one of `pages`. */
  pageOf: (name: string) => string;
  /** Pages that are recognised: the first group of `path` is the name. */
  pages: readonly { hosts: readonly string[]; path: RegExp }[];
  /** The package that counts live what a source counts. By default, a package of type `other` with the short name. */
  packageOf?: (name: string) => RegistryPackage;
  /** Whether requests carry the operator's `GITHUB_TOKEN`. No other registry gets it. */
  takesToken?: true;
  /** Days that one count stands for, where it is not one: counts of a source never overlap. */
  windowDays?: number;
  /** The first requests of a run. All of the history that the registry has is asked for, because registries correct it. */
  ask: (asked: Asked) => Ask[];
  /** @throws UnexpectedAnswer */
  read: (answer: unknown, ask: Ask, asked: Asked) => Reading;
}

export interface RegistryPackage {
  name: string;
  libraryType: LibraryType;
  backendUrl?: string;
}

export interface Asked {
  name: string;
  /** `2026-11-25`, in UTC. */
  today: string;
  /** Whether requests carry a token of the operator. */
  hasToken: boolean;
}

export interface Ask {
  path: string;
  /** Its answer may be missing: the run goes on without it. */
  isOptional?: true;
}

export interface Reading {
  /** Of whole days, or of the part of today that the registry knows. */
  counts?: Count[];
  /** Totals since a thing exists: the runner makes days of them. */
  counters?: Counter[];
  /** What was published, and when, where the same answer says so. */
  releases?: Published[];
  /** The next request, where the answer has several pages. */
  more?: Ask;
}

/** A version that was published; `key` names it wherever it is told. */
export interface Published {
  version: string;
  date: string;
  url: string;
  key: string;
}

export interface Count {
  date: string;
  version?: string;
  metric: Metric;
  value: number;
}

export interface Counter {
  /** Names what is counted, for as long as it exists. */
  key: string;
  version?: string;
  metric: Metric;
  value: number;
  /** When counting began, where the registry says so. */
  since?: string;
}

/** The answer has another shape than the registry documents. */
export class UnexpectedAnswer extends Error {}

const ajv = new Ajv({ strict: true, allowUnionTypes: true });

export const WHOLE = { type: "integer", minimum: 0, maximum: Number.MAX_SAFE_INTEGER } as const;
/** Of a day: the calendar is checked by the database. */
export const DAY = { type: "string", pattern: "^20\\d\\d-[01]\\d-[0-3]\\d$" } as const;
export const TEXT = {
  type: "string",
  maxLength: 256,
  pattern: "^[^\\u0000-\\u001f\\ud800-\\udfff]+$",
} as const;

/** A schema of the fields that are read. Others may come and go. */
export function fieldsOf(properties: Record<string, object>, optional: readonly string[] = []) {
  const required = Object.keys(properties).filter((name) => !optional.includes(name));
  return { type: "object", required, properties };
}

export function listOf(items: object, itemsMax: number) {
  return { type: "array", items, maxItems: itemsMax };
}

export function compileAnswer<Answer>(schema: object): (answer: unknown) => Answer {
  let compiled: ValidateFunction<Answer> | undefined;
  return (answer) => {
    const validate = (compiled ??= ajv.compile<Answer>(schema));
    if (validate(answer)) return answer;
    throw new UnexpectedAnswer(
      "The response does not match the registry's documentation: " +
        `${ajv.errorsText(validate.errors, { dataVar: "it" })}.`,
    );
  };
}

/** The day of a time that a registry gives, where it is one. */
export function publishedOn(time: string | null | undefined): string | undefined {
  const day = time?.slice(0, 10) ?? "";
  return isCalendarDate(day) && /^20/.test(day) ? day : undefined;
}
