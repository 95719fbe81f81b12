import type { LiveEvent } from "../../../schemas/contracts/live-event.js";

export const LIVE_PARTS = ["time", "place", "name", "version", "client", "company"] as const;

/** The texts of an event on the live page, which the page writes and its script adds. Imports nothing: it is served. */
export function livePartsOf(
  event: LiveEvent,
  countryName: (code: string) => string,
): Record<(typeof LIVE_PARTS)[number], string> {
  const { time, country, name, version, client, client_version: clientVersion, company } = event;
  return {
    time: time.slice(11, 19),
    place: country === "" ? "" : countryName(country),
    name,
    version,
    client: `${client} ${clientVersion}`.trim(),
    company,
  };
}
