import assert from "node:assert/strict";
import { pause } from "../../schemas/async/pause.js";
import type { EventImport } from "../../schemas/records/import-store.js";
import type { Model } from "./model.js";
import type { ModelOwner } from "./model-owner.js";

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
