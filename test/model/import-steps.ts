import assert from "node:assert/strict";
import { gzipSync } from "node:zlib";
import { Random } from "../../deploy/demo/random.js";
import type { EventImport } from "../../schemas/records/import-store.js";
import { openUpload } from "../support/imports/open-upload.js";
import { lineOf } from "../support/statistics/sent-events.js";
import { drawEvent } from "./draw-event.js";
import { deletedIn, wasJustDeleted, type ModelImport } from "./model.js";
import type { ModelOwner } from "./model-owner.js";
import type { PlannedBody } from "./plan-steps.js";
import { whenSettled } from "./when-settled.js";

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
