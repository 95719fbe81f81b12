import type { FromSchema } from "json-schema-to-ts";
import { COUNT, DATE, objectOf, titledObject } from "../formats.js";
import { compileBody } from "../validate.js";

export const END_OF_LIFE_DAYS = 30;
/** All of them are parameters of one statement. */
export const END_OF_LIFE_VERSIONS_MAX = 50;

const VERSION = {
  type: "string",
  format: "line",
  minLength: 1,
  maxLength: 256,
  description: "A version, or a group of versions: `1.4.2`, `1.4.x`, `1.x`",
} as const;
const ENTRY = objectOf(["version", "date"], { version: VERSION, date: DATE });
/** The day from which a version, or a group of versions, is no longer maintained. */
export type EndOfLife = FromSchema<typeof ENTRY>;

export const ENDS_OF_LIFE = titledObject("EndsOfLife", ["versions"], {
  versions: {
    type: "array",
    maxItems: END_OF_LIFE_VERSIONS_MAX,
    items: ENTRY,
    description: "Versions, newest first",
  },
});
export type EndsOfLife = FromSchema<typeof ENDS_OF_LIFE>;

const USE = titledObject("EndOfLifeUse", [...ENTRY.required, "downloads", "unique_addresses", "companies"], {
  ...ENTRY.properties,
  downloads: { ...COUNT, description: `Downloads in the last ${END_OF_LIFE_DAYS} days, including today` },
  unique_addresses: {
    ...COUNT,
    description: `Distinct IP addresses in the last ${END_OF_LIFE_DAYS} days, including today`,
  },
  companies: { ...COUNT, description: `Companies in the last ${END_OF_LIFE_DAYS} days, including today` },
});
export type EndOfLifeUse = FromSchema<typeof USE>;

export const ENDS_OF_LIFE_USE = titledObject("EndsOfLifeUse", ["versions"], {
  versions: { type: "array", description: "Versions, newest first", items: USE },
});

export const parseEndsOfLife = compileBody<EndsOfLife>(ENDS_OF_LIFE, ({ versions = [] }) => {
  const names = versions.map(({ version }) => version);
  return names.flatMap((name, index) =>
    names.indexOf(name) < index
      ? [{ path: `/versions/${index}/version`, message: "must not contain duplicates" }]
      : [],
  );
});
