import assert from "node:assert/strict";
import { gzipSync } from "node:zlib";
import { Random } from "../../deploy/demo/random.js";
import type { EventImport } from "../../schemas/records/import-store.js";
import { openUpload } from "../support/imports/open-upload.js";
import { lineOf } from "../support/statistics/sent-events.js";
import { drawEvent, deletedIn, wasJustDeleted, type ModelImport, type Model } from "./model.js";
import type { ModelOwner } from "./model-owner.js";
import type { PlannedBody } from "./plan-steps.js";
import { pause } from "../../schemas/async/pause.js";

export async function startImport(owner: ModelOwner, planned: PlannedBody): Promise<void> {
  const { api, name, model } = owner;
  const random = new Random(planned.seed);
  const drawn = Array.from({ length: planned.lines }, () => drawEvent(random, model.artifacts));
  const bad = Array.from({ length: planned.refused }, (_, index) => `not an event ${index}\n`);
  const body = Buffer.from([...drawn.map(lineOf), ...bad].join(""));
  const path = `/v2/${name}/import`;
  if (planned.ending === "break off") return breakOff(owner, { path, body });
  const key = String(model.imports.length);
  const send = () =>
    api.request(path, {
      method: "POST",
      headers: {
        "Content-Type": "application/ndjson",
        "Idempotency-Key": key,
        ...(planned.gzip && { "Content-Encoding": "gzip" }),
      },
      body: planned.gzip ? gzipSync(body) : body,
    });
  const isUncertain = model.artifacts.some(wasJustDeleted);
  let answer = await send();
  // So many may be under way at a time.
  if (answer.status === 422) {
    await whenSettled(owner);
    answer = await send();
  }
  const started = (await answer.json()) as EventImport;
  assert.equal(answer.status, 200, JSON.stringify(started));
  const events = drawn.filter(({ artifact }) => !deletedIn(model.artifacts, artifact.id));
  const refused = isUncertain ? undefined : planned.refused + drawn.length - events.length;
  const sent: ModelImport = {
    id: started.id,
    events,
    refused,
    gone: false,
    aborted: false,
    retracted: false,
    erased: new Set(),
  };
  model.imports.push(sent);
  if (planned.ending === "repeat")
    assert.equal(((await (await send()).json()) as EventImport).id, started.id);
  if (planned.ending === "abort" || planned.ending === "abort and retract")
    await abort(owner, sent, planned.ending);
}

/** Nothing of such an import stays. */
async function breakOff({ api }: ModelOwner, { path, body }: { path: string; body: Buffer }): Promise<void> {
  const upload = openUpload(api, path);
  await upload.send(body.subarray(0, body.length / 2));
  upload.breakOff();
  await upload.answer.catch(() => undefined);
}

async function abort(
  { api, name }: ModelOwner,
  sent: ModelImport,
  ending: "abort" | "abort and retract",
): Promise<void> {
  const query = ending === "abort" ? "" : "?retract=true";
  const { status } = await api.request(`/v2/imports/${name}/${sent.id}/abort${query}`, { method: "POST" });
  // It was done before.
  if (status === 409) return;
  assert.ok([202, 204].includes(status), `the abort is answered ${status}`);
  sent.aborted = true;
  if (ending === "abort and retract") takeBack(sent);
}

export async function retract({ api, name, model }: ModelOwner, which: number): Promise<void> {
  const kept = model.imports.filter(({ gone }) => !gone);
  const sent = kept[which % kept.length];
  if (sent === undefined) return;
  await api.pollToDone({ owner: name, id: sent.id } as EventImport);
  const { status } = await api.request(`/v2/imports/${name}/${sent.id}`, { method: "DELETE" });
  assert.ok([202, 204].includes(status), `the retraction is answered ${status}`);
  takeBack(sent);
}

function takeBack(sent: ModelImport): void {
  sent.gone = true;
  sent.retracted = true;
}

const UNREST_MS_MAX = 120_000;
const POLL_MS = 100;

/** Waits until every import of the owner has ended and is taken back where it was to be. */
export async function whenSettled(owner: ModelOwner): Promise<void> {
  for (const deadline = Date.now() + UNREST_MS_MAX; ; await pause(POLL_MS)) {
    const { event_imports: imports } = await owner.api.get<{ event_imports: EventImport[] }>(
      `/v2/imports/${owner.name}?per_page=1000`,
    );
    const restless = imports.filter(({ status }) => status === "importing" || status === "retracting");
    if (restless.length === 0) return noteOutcomes(owner.model, imports);
    assert.ok(Date.now() < deadline, `not at rest: ${JSON.stringify(restless)}`);
  }
}

/**
 * Each line was imported or refused. Of an aborted import it is all lines or none, because it is one chunk; none may
 * become all for as long as the batch that was in hand at the abort is written.
 */
function noteOutcomes(model: Model, records: readonly EventImport[]): void {
  for (const sent of model.imports.filter(({ retracted }) => !retracted)) {
    const record = records.find(({ id }) => id === sent.id);
    const { events_successfully_imported: imported, events_failed_to_import: failed } = record ?? {};
    const said = `import ${sent.id}: ${JSON.stringify(record)}`;
    sent.gone = sent.aborted && imported === 0 && failed === 0;
    if (!sent.gone && sent.refused !== undefined)
      assert.deepEqual([imported, failed], [sent.events.length, sent.refused], said);
  }
}
