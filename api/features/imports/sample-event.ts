import type { EnrichedEvent } from "../../../schemas/records/enriched-event.js";
import type { EventSample } from "../../../schemas/records/import-store.js";

export function sampleEvent({ line, time, variables, ...event }: EnrichedEvent): EventSample {
  const named: [string, string][] = [];
  for (let index = 0; index < variables.length; index += 2)
    named.push([variables[index] ?? "", variables[index + 1] ?? ""]);
  return {
    line,
    time: new Date(time).toISOString(),
    type: event.type,
    version: event.version,
    user_agent: event.userAgent,
    referer: event.referer,
    variables: Object.fromEntries(named),
  };
}
