import type { MainJobDone } from "./main-job.js";

export interface TryOptions {
  apiUrl: string;
  token: string;
  organization: string;
}

/** The curl commands for readers of the demo, with the real token and ids. */
export function tryCommands(
  { packages, range }: MainJobDone,
  { apiUrl, token, organization }: TryOptions,
): string {
  const query = `startDate=${range.startDate}&endDate=${range.endDate}`;
  const [first] = packages;
  const event = `{"$time":"${range.startDate}","$unique_id":"mine-1","$remote_address":"18.8.1.2","$user_agent":"curl/8.5.0"}`;
  const commands = [
    `TOKEN=${token}`,
    curl(`${apiUrl}/v1/organizations/${organization}/packages`),
    curl(`${apiUrl}/v1/organizations/${organization}/aggregates?${query}&breakdown=total,country`),
    `${curl(`${apiUrl}/v1/packages/${first?.uuid}/events/events.csv?${query}`)} --compressed`,
    `${curl(`${apiUrl}/v2/packages/${organization}/${first?.uuid}/import`)} \\\n    -H 'Content-Type: application/ndjson' --data-binary '${event}'`,
    curl(`${apiUrl}/v2/imports/${organization}`),
  ];
  return commands.map((command) => `  ${command}\n`).join("");
}

function curl(url: string): string {
  return `curl -s -H "Authorization: Bearer $TOKEN" '${url}'`;
}
