import type { Client, ReportedClient } from "../../../schemas/records/enriched-event.js";
import { clientName, clientVersion } from "./client-name.js";
import { namePlatform } from "./find-platform.js";

/**
 * The client of a request that says itself what it is from. A client that is reported without a version only stands in
 * for one that the user agent does not name.
 */
export function withReported(client: Client, reported: ReportedClient): Client {
  const { platform, client: name = "", clientVersion: version = "" } = reported;
  const named = platform === undefined ? client : { ...client, platform: namePlatform(platform) };
  if (name === "" || (version === "" && client.client !== "")) return named;
  return { ...named, client: clientName(name), clientVersion: clientVersion(version) };
}
