import { existsSync } from "node:fs";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { Readable } from "node:stream";
import { type ApiClient, connectApi } from "../../../deploy/demo/api-client.js";
import { generateBody } from "../../../deploy/demo/generate-events.js";
import { StartFailure } from "../../../deploy/process/start-failure.js";
import { DAY_MS, dateAt } from "../../../schemas/date-range.js";
import { createBenchAccount, OWNER } from "../common/create-bench-account.js";
import { evenAddresses } from "../common/even-addresses.js";
import { whole } from "../common/format-numbers.js";
import { importStream } from "../common/import-file.js";
import { makePackages } from "../common/make-packages.js";
import type { MeasuredProgram } from "../common/measure-program.js";
import { runAdmin } from "../../support/program/run-admin.js";

/** What a folder holds, kept in it beside the data of the program. */
export interface StoredEvents {
  events: number;
  addresses: number;
  seed: number;
  /** The first of `DAYS` days. */
  from: string;
  token: string;
  /** The first has the most events. */
  packageIds: string[];
}

export const DAYS = 90;
export const PACKAGES = 20;
const USER_AGENTS = 60;
const OVERRIDE_SHARE = 0.02;
const EVENTS_EACH = 1_000_000;
const ADDRESSES_EACH = 150_000;

/**
 * Imports a million events at a time, up to yesterday. Continues what the folder holds; an import in which the benchmark
 * was stopped is sent again, and overrides itself. Throws when the folder holds more events, or others.
 */
export async function storeEvents(measured: MeasuredProgram): Promise<StoredEvents> {
  const { folder, program, millions, seed, onProgress } = measured;
  const wanted = millions * EVENTS_EACH;
  const addresses = measured.addresses ?? millions * ADDRESSES_EACH;
  const path = join(folder, "look.json");
  const { api: url } = await program.ready();
  const stored = existsSync(path)
    ? (JSON.parse(await readFile(path, "utf8")) as StoredEvents)
    : await makeOwner(measured, { url, addresses });
  if (stored.events > wanted || stored.addresses !== addresses || stored.seed !== seed)
    throw new StartFailure(
      `${folder} holds other events: ${whole(stored.events)} of ${whole(stored.addresses)} addresses.`,
    );
  const api = connectApi(url, stored.token);
  while (stored.events < wanted) {
    onProgress(`${whole(stored.events)} of ${whole(wanted)} events stored`);
    await importNext(api, stored);
    stored.events += EVENTS_EACH;
    await writeFile(path, JSON.stringify(stored));
  }
  return stored;
}

async function makeOwner(
  { program: { dataDir }, seed }: MeasuredProgram,
  { url, addresses }: { url: string; addresses: number },
): Promise<StoredEvents> {
  const token = await createBenchAccount(dataDir);
  await runAdmin(["grant-export", OWNER], { DATA_DIR: dataDir });
  const packageIds = await makePackages(connectApi(url, token), { name: "look", count: PACKAGES });
  return { events: 0, addresses, seed, from: dateAt(Date.now() - DAYS * DAY_MS), token, packageIds };
}

/** Once more, where they are stored: their rows are replaced, and as many events are there afterwards. */
export function importFirst(api: ApiClient, stored: StoredEvents): Promise<unknown> {
  return importNext(api, { ...stored, events: 0 });
}

async function importNext(api: ApiClient, { events, addresses, seed, from, packageIds }: StoredEvents) {
  const body = generateBody({
    ...{ seed, count: EVENTS_EACH, startAt: events, from, days: DAYS },
    packages: packageIds.map((id) => ({ id, libraryType: "other" })),
    ...{ brokenShare: 0, overrideShare: OVERRIDE_SHARE, clients: USER_AGENTS },
    addressOf: evenAddresses(addresses),
  });
  await importStream(api, { body: Readable.from(body), packageIds });
}
