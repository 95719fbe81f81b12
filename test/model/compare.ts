import assert from "node:assert/strict";
import { parse } from "csv-parse/sync";
import { pause } from "../../schemas/async/pause.js";
import type { CompanyRecord } from "../../schemas/contracts/funnel.js";
import type { Statistics } from "../../schemas/contracts/statistics.js";
import type { FaultWorld } from "../faults/worlds/fault-world.js";
import { readAnnouncement } from "../support/api/receivers.js";
import { firstDifference } from "../support/imports/recount-aggregates.js";
import { recountStatistics } from "../support/statistics/recount-statistics.js";
import { lineOf, type SentEvent } from "../support/statistics/sent-events.js";
import { dayBefore, keptArtifacts, liveEvents, type ModelArtifact, type ModelChange } from "./model.js";
import type { ModelOwner } from "./model-owner.js";
import { compareSets, makeSets } from "./compare-sets.js";
import { whenSettled } from "./import-steps.js";

/**
 * Holds what the service answers of an owner against the model; throws with the first difference. An export of one package
 * or pixel, which is another each time, stands for all.
 */
export async function compareSome(world: FaultWorld, owner: ModelOwner): Promise<void> {
  const kept = keptArtifacts(owner.model);
  await compare(world, owner, [kept[owner.model.imports.length % kept.length] as ModelArtifact]);
}

/** The same with every export. */
export async function compareAll(world: FaultWorld, owner: ModelOwner): Promise<void> {
  await compare(world, owner, keptArtifacts(owner.model));
}

async function compare(
  world: FaultWorld,
  owner: ModelOwner,
  exported: readonly ModelArtifact[],
): Promise<void> {
  await whenCounted(world, owner);
  await makeSets(world);
  await whenCounted(world, owner);
  await untilKept(() => compareSets(world, owner));
  for (const artifact of exported)
    await untilKept(async () => {
      // The batch that was in hand at an abort may have been written since.
      await whenSettled(owner);
      await compareExport(owner, artifact);
    });
  await compareStages(owner);
  await untilKept(() => compareAnnounced(owner));
}

/** Waits until imports are settled, and the events of live requests are there as well. */
export async function whenCounted(world: FaultWorld, owner: ModelOwner): Promise<void> {
  await untilKept(async () => {
    await whenSettled(owner);
    const events = liveEvents(owner.model);
    await compareAggregates(world, owner, events);
    await compareStatistics(owner, events);
  });
}

/** A delivery whose worker was killed is tried again after 15 s. */
const PATIENCE_MS = 180_000;
const POLL_MS = 100;

async function untilKept(promise: () => Promise<void>): Promise<void> {
  for (const deadline = Date.now() + PATIENCE_MS; Date.now() < deadline; await pause(POLL_MS))
    if (
      await promise().then(
        () => true,
        () => false,
      )
    )
      return;
  await promise();
}

/** No event is older. */
const DAYS = 90;

async function compareAggregates(
  { recountBodies }: FaultWorld,
  { api, name, model }: ModelOwner,
  events: readonly SentEvent[],
): Promise<void> {
  const body = { bytes: Buffer.from(events.map(lineOf).join("")) };
  const { aggregates } = recountBodies([body], model.artifacts);
  const range = { startDate: dayBefore(DAYS), endDate: dayBefore(-1) };
  assert.equal(firstDifference(await api.readAggregates(name, range), aggregates), "");
}

async function compareStatistics(
  { api, name, model }: ModelOwner,
  events: readonly SentEvent[],
): Promise<void> {
  const range = { startDate: dayBefore(DAYS), endDate: dayBefore(-1) };
  const path = `/v2/${name}/stats?startDate=${range.startDate}&endDate=${range.endDate}`;
  const { complete_through: _, ...statistics } = await api.get<Statistics>(path);
  const kept = keptArtifacts(model);
  // Without a package, every list counts views.
  const onlyPixels = kept.every(({ kind }) => kind === "pixel");
  const query = { ...range, ...(onlyPixels && { artifacts: kept.map(({ id }) => id) }) };
  const { totals, series, breakdowns } = recountStatistics(events, query);
  assert.deepEqual(statistics.totals, totals);
  assert.deepEqual(statistics.series, series);
  assert.deepEqual(statistics.breakdowns, breakdowns);
}

/** An export has 31 days. */
const WINDOWS = [91, 60, 29].map((days) => ({ startDate: dayBefore(days), endDate: dayBefore(days - 31) }));

async function compareExport({ api, model }: ModelOwner, { id, kind, name }: ModelArtifact): Promise<void> {
  const path = kind === "pixel" ? "/v1/pixels/events" : `/v1/packages/${id}/events`;
  const rows: string[] = [];
  for (const { startDate, endDate } of WINDOWS) {
    const lines = await api.readLines(`${path}/e.csv?startDate=${startDate}&endDate=${endDate}`);
    rows.push(...parse<Row>(lines.join("\n"), { columns: true }).map(answeredRow));
  }
  const events = liveEvents(model).filter(({ artifact }) => artifact.id === id);
  const wanted = events.map((event) => expectedRow(event, name));
  assert.deepEqual(rows.sort(), wanted.sort(), `the export of ${name}`);
}

type Row = Record<string, string>;

function answeredRow(row: Row): string {
  const {
    package: name,
    version,
    time = "",
    referer,
    user_agent,
    origin_country,
    origin_domain,
    variables,
  } = row;
  return JSON.stringify([
    ...[
      name,
      version,
      time.slice(0, 10),
      referer,
      user_agent,
      origin_country,
      origin_domain,
      variables,
      row["pixel"],
    ],
  ]);
}

function expectedRow(
  { artifact, version, day, page, agent, place, variables }: SentEvent,
  name: string,
): string {
  const isPixel = artifact.kind === "pixel";
  const pairs =
    artifact.libraryType === "other" ? Object.entries(variables).map((pair) => pair.join("=")) : [];
  const about = [day, page, agent.agent, place.country, place.company[1], pairs.join("&")];
  return JSON.stringify([isPixel ? "" : name, version, ...about, isPixel ? artifact.id : ""]);
}

async function compareStages({ api, name, model }: ModelOwner): Promise<void> {
  const { companies } = await api.get<{ companies: CompanyRecord[] }>(`/v2/${name}/companies?per_page=1000`);
  const answered = companies.flatMap(({ domain, stage }) =>
    stage === undefined ? [] : [`${domain} ${stage}`],
  );
  const wanted = [...model.stages].flatMap(([domain, { stage }]) =>
    stage === null ? [] : [`${domain} ${stage}`],
  );
  assert.deepEqual(answered.sort(), wanted.sort(), "the stages of companies");
}

/** Each change of a stage arrives under one id; an id may come twice. */
async function compareAnnounced({ webhook: { receiver, secret }, model }: ModelOwner): Promise<void> {
  const events = new Map(receiver.received.map((each) => [each.id, readAnnouncement(each, secret)]));
  const announced = [...events.values()].flatMap(({ data }) => data.companies).map(changeText);
  assert.deepEqual(announced.sort(), model.changes.map(changeText).sort(), "the announced changes");
}

function changeText({ domain, old_stage, new_stage }: ModelChange): string {
  return `${domain}: ${old_stage} to ${new_stage}`;
}
