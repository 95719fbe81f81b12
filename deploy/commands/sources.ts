import { Argument, Command } from "commander";
import { once } from "node:events";
import { Readable } from "node:stream";
import { pause } from "../../schemas/async/pause.js";
import { SOURCE_KINDS, type SourceKind, type SourceRecord } from "../../schemas/contracts/source.js";
import { type Service, readJson, callApi } from "../import/call-api.js";
import { printRecord } from "../import/print-record.js";
import { type ServiceOptions, addServiceOptions, serviceOf } from "../import/service-options.js";
import { nearTarget, parseTarget } from "../import/target.js";

/** `sources`: what registries count themselves, fetched every day by a running service. */
export function sourcesCommand(): Command {
  const command = new Command("sources");
  command
    .command("add")
    .description("Add a source. Its download counts are fetched now, and then daily.")
    .addArgument(new Argument("<kind>", "the registry").choices(SOURCE_KINDS))
    .argument("<name>", "name in the registry, such as left-pad, @acme/tool or acme/web")
    .requiredOption(
      "--to <owner[/package]>",
      "owner of the source, or owner/package to show the counts on a package's page",
    )
    .option("--no-wait", "exit without waiting for the registry")
    .action(add);
  command
    .command("list")
    .description("List the sources of an owner and the results of their last runs.")
    .argument("<owner>")
    .action(list);
  command
    .command("run")
    .description("Fetch the counts of a source now.")
    .argument("<owner>")
    .argument("<id>", "id of the source")
    .action(run);
  command
    .command("remove")
    .description("Delete a source and its counts.")
    .argument("<owner>")
    .argument("<id>", "id of the source")
    .action(remove);
  for (const each of command.commands) addServiceOptions(each);
  return command.addHelpText("after", HELP);
}

const HELP = `
Example:
  maintainer-toolchain sources add npm left-pad --to acme/left-pad
`;

type Adding = ServiceOptions & { to: string; wait: boolean };

async function add(kind: SourceKind, name: string, { to, wait, ...options }: Adding): Promise<void> {
  const service = serviceOf(options);
  const target = parseTarget(to, "--to");
  const body = { kind, name, ...(target.packageName !== undefined && { package: target.packageName }) };
  const source = await nearTarget(service, target, () =>
    send<SourceRecord>(service, pathOf(target.owner), body),
  );
  print(wait ? await untilAsked(service, source) : source, options.json);
}

interface SourcePage {
  sources: SourceRecord[];
  next?: string;
}

async function list(owner: string, options: ServiceOptions): Promise<void> {
  const service = serviceOf(options);
  let path: string | undefined = `${pathOf(owner)}?per_page=100`;
  while (path !== undefined) {
    const asked: string = path;
    const { sources, next }: SourcePage = await nearTarget(service, { owner }, () =>
      readJson<SourcePage>(service, asked),
    );
    for (const source of sources) print(source, options.json);
    path = next === undefined ? undefined : `${pathOf(owner)}${new URL(next).search}`;
  }
}

async function run(owner: string, id: string, options: ServiceOptions): Promise<void> {
  const service = serviceOf(options);
  const path = pathOf(owner, id);
  const before = await readJson<SourceRecord>(service, path);
  await send(service, `${path}/run`);
  print(await untilAsked(service, before), options.json);
}

async function remove(owner: string, id: string, options: ServiceOptions): Promise<void> {
  const answer = await callApi(serviceOf(options), pathOf(owner, id), { method: "DELETE" });
  answer.resume();
  await once(answer, "close");
}

function pathOf(owner: string, id?: string): string {
  const sources = `/v2/${encodeURIComponent(owner)}/sources`;
  return id === undefined ? sources : `${sources}/${encodeURIComponent(id)}`;
}

function send<Answer>(service: Service, path: string, body?: object): Promise<Answer> {
  const bytes = Buffer.from(body === undefined ? "" : JSON.stringify(body));
  const headers = { "Content-Type": "application/json", "Content-Length": String(bytes.length) };
  return readJson<Answer>(service, path, { method: "POST", headers, body: Readable.from([bytes]) });
}

const POLL_MS = 500;
const POLLS_MAX = 120;

/** The record once a run after this one has ended, or as it is after a minute. */
async function untilAsked(service: Service, before: SourceRecord): Promise<SourceRecord> {
  const path = pathOf(before.owner, before.id);
  let now = before;
  for (let poll = 0; poll < POLLS_MAX; poll++) {
    now = await readJson<SourceRecord>(service, path);
    const isNewer = now.last_run_at !== before.last_run_at;
    const hasEnded = now.last_success_at !== before.last_success_at || now.last_error !== undefined;
    if (isNewer && hasEnded) return now;
    await pause(POLL_MS);
  }
  return now;
}

function print(source: SourceRecord, json: true | undefined): void {
  printRecord(source, json, wordsOf);
}

function wordsOf({
  id,
  kind,
  name,
  enabled,
  last_error: error,
  first_date: first,
  last_date: last,
}: SourceRecord) {
  const days = first === undefined ? "no counts yet" : `${first} to ${last ?? first}`;
  const state = enabled ? (error ?? days) : "disabled";
  return `${id}  ${kind} ${name}: ${state}`;
}
