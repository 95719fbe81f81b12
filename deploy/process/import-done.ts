import type { FinishedImport } from "../../schemas/records/settlement.js";

/** The message of the log line at the end of each import. */
export const IMPORT_DONE = "import done";

/** Its fields. The seconds count from the start of the request, with its upload. */
export interface ImportDoneFields {
  importId: string;
  owner: string;
  events: number;
  failed: number;
  seconds: number;
  eventsPerSecond: number;
}

export function importDoneFields({
  id,
  owner,
  eventsImported,
  eventsFailed,
  seconds,
}: FinishedImport): ImportDoneFields {
  const perSecond = eventsImported / Math.max(seconds, 0.001);
  return {
    importId: id,
    owner,
    events: eventsImported,
    failed: eventsFailed,
    seconds: Math.round(seconds * 100) / 100,
    eventsPerSecond: Math.round(perSecond),
  };
}
