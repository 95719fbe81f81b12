import { DEMO_HOST, type MainJobDone } from "./main-job.js";

export interface TryOptions {
  apiUrl: string;
  collectUrl: string;
  token: string;
  organization: string;
}

/** The curl commands for readers of the demo, with the real token and ids. */
export function tryCommands(
  { packages, range }: MainJobDone,
  { apiUrl, collectUrl, token, organization }: TryOptions,
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
    curl(`${apiUrl}/v2/${organization}/companies?stage=experimentation`),
    `curl -sSi '${collectUrl}/1.4.0/toolkit-cli.tgz' -H 'Host: ${DEMO_HOST}'    # a download, counted live`,
  ];
  return `${commands.map((command) => `  ${command}\n`).join("")}\nEvery operation: ${apiUrl}/docs\n`;
}

function curl(url: string): string {
  return `curl -sS --fail-with-body -w '\\n' -H "Authorization: Bearer $TOKEN" '${url}'`;
}
