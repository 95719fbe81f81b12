import type { FromSchema } from "json-schema-to-ts";
import { COUNT, TIMESTAMP, titledObject } from "../formats.js";
import { compileBody } from "../validate.js";

/** The ids by which an export of events tells clients apart. */
export const CLIENT_ID_KINDS = ["origin_id", "endpoint_id"] as const;
export type ClientIdKind = (typeof CLIENT_ID_KINDS)[number];

/** What may still bring events that were received before an erasure was asked for. */
export const ERASURE_WAITS = ["live-collection", "event-log", "imports", "dead-letters"] as const;
export type ErasureWait = (typeof ERASURE_WAITS)[number];

const CLIENT_ID = { type: "string", pattern: "^[0-9A-Fa-f]{32}$" } as const;

export const ERASURE_CREATE = {
  title: "ErasureCreate",
  type: "object",
  additionalProperties: false,
  minProperties: 1,
  maxProperties: 1,
  properties: {
    origin_id: {
      ...CLIENT_ID,
      description: "`origin_id` of an event export: one program at one IP address",
    },
    endpoint_id: {
      ...CLIENT_ID,
      description: "`endpoint_id` of an event export: all programs at one IP address",
    },
  },
} as const;

/** The body of a request for an erasure: one of the two ids. */
export type ErasureCreate = FromSchema<typeof ERASURE_CREATE>;

export const parseErasureCreate = compileBody<ErasureCreate>(ERASURE_CREATE);

export const ERASURE = titledObject(
  "Erasure",
  [
    "id",
    "owner",
    "client",
    "status",
    "waiting_for",
    "events_erased",
    "rejected_lines_erased",
    "created_at",
    "finished_at",
  ],
  {
    id: { type: "string", format: "uuid" },
    owner: { type: "string" },
    client: {
      type: "string",
      enum: CLIENT_ID_KINDS,
      description: "Which kind of id was given. The id itself is not stored",
    },
    status: {
      type: "string",
      enum: ["erasing", "done"],
      description: "`done`: no table contains an event of the client that was received before the request",
    },
    waiting_for: {
      type: ["string", "null"],
      enum: [...ERASURE_WAITS, null],
      description:
        "While the status is `erasing`: what the erasure is waiting for: live events that the collector " +
        "has not written to the event log yet, records in the event log that are not enriched yet, imports " +
        "that started before the request, or dead letters that the operator must retry or drop",
    },
    events_erased: {
      ...COUNT,
      description: "Number of erased events so far, including replaced versions of events",
    },
    rejected_lines_erased: {
      ...COUNT,
      description: "Number of rejected lines whose texts were erased so far",
    },
    created_at: TIMESTAMP,
    finished_at: { ...TIMESTAMP, type: ["string", "null"] },
  },
);
export type ErasureRecord = FromSchema<typeof ERASURE>;

/** The erasure of one client's events while it is under way. */
export interface OpenErasure {
  id: string;
  kind: ClientIdKind;
  /** 32 hexadecimal digits. */
  clientId: string;
  /** Receipt stamps, in ms: those of imports that began later are not below it. */
  stamp: number;
  /** Those that were under way when it was asked, which go whole. */
  imports: readonly string[];
  /** Live events with receipt stamps below go. Null while some that were received before may not be enriched. */
  liveStamp: number | null;
  /** Ends of the event log's partitions, behind every live event that was received before. */
  logEnds: number[] | null;
  waitingFor: ErasureWait | null;
}

export interface ErasedNow {
  events: number;
  lines: number;
}
