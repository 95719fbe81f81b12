import type { FromSchema } from "json-schema-to-ts";
import { TIMESTAMP, titledObject } from "../formats.js";

const TEXT = { type: "string" } as const;
const OR_EMPTY = { type: "string", description: "Empty if unknown" } as const;

export const LIVE_EVENT = titledObject(
  "LiveEvent",
  [
    "id",
    "time",
    "name",
    "kind",
    "artifact_id",
    "type",
    "version",
    "country",
    "client",
    "client_version",
    "platform",
    "company",
    "company_domain",
    "automated",
  ],
  {
    id: {
      type: "string",
      description: "Id of the event, as in exports. An event that replaces another has the same id",
    },
    time: TIMESTAMP,
    name: { type: "string", description: "Name of the package or pixel" },
    kind: { type: "string", enum: ["package", "pixel"] },
    artifact_id: { type: "string", format: "uuid" },
    type: TEXT,
    version: OR_EMPTY,
    country: { type: "string", description: "ISO 3166-1 alpha-2 code; empty if unknown" },
    client: OR_EMPTY,
    client_version: OR_EMPTY,
    platform: OR_EMPTY,
    company: OR_EMPTY,
    company_domain: OR_EMPTY,
    automated: { type: "string", description: "`bot`, `ci` or `mirror`; otherwise empty" },
  },
);
/** One event as it came, with what statistics count of it: no address, no agent, no variables, no city. */
export type LiveEvent = FromSchema<typeof LIVE_EVENT>;

export const LIVE_EVENTS = titledObject("LiveEvents", ["events"], {
  events: { type: "array", items: LIVE_EVENT, description: "Events, newest first" },
});
export type LiveEvents = FromSchema<typeof LIVE_EVENTS>;
