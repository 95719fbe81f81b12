import { setTimeout as sleep } from "node:timers/promises";
import { gzipSync } from "node:zlib";
import type { EventImport } from "../../schemas/import-store.js";
import { openUpload, type UploadAnswer } from "../support/open-upload.js";
import type { FaultWorld } from "./fault-world.js";
import type { PlannedImport } from "./plan-seed.js";

export interface SentImport {
  planned: PlannedImport;
  good: readonly string[];
  refused: readonly string[];
  packageId: string;
}

const PARTS = 8;
const PAUSE_MS_MAX = 15;
const RETRY_MS = 100;
const TRIES_MS_MAX = 90_000;

/**
 * Sends an import as a careful client does: under one Idempotency-Key, again after a lost connection or a 503, until
 * it is answered.
 * @returns the id that the answer named; undefined for a sender that breaks off and does not come back
 */
export async function sendImport(world: FaultWorld, sent: SentImport): Promise<string | undefined> {
  const deadline = Date.now() + TRIES_MS_MAX;
  for (;;) {
    const answer = await sendOnce(world, sent).catch(() => undefined);
    if (sent.planned.ending === "break off") return undefined;
    if (answer?.status === 200) return (answer.body as EventImport).id;
    const said = answer === undefined ? "the connection broke" : JSON.stringify(answer);
    if (answer !== undefined && !isTryAgain(answer)) throw new Error(`an import was answered ${said}`);
    if (Date.now() > deadline)
      throw new Error(`an import was not taken within ${TRIES_MS_MAX / 1000} s: ${said}`);
    await sleep(RETRY_MS);
    await world.whenRunning();
  }
}

/** Unavailable, or the first start is not known to be lost yet. */
function isTryAgain({ status, body }: UploadAnswer): boolean {
  return status === 503 || (status === 409 && (body as { code: string }).code === "import-in-progress");
}

async function sendOnce(
  { api, organization }: FaultWorld,
  { planned, good, refused, packageId }: SentImport,
): Promise<UploadAnswer> {
  const path = `/v2/packages/${organization}/${packageId}/import`;
  const encoding: Record<string, string> = planned.gzip ? { "Content-Encoding": "gzip" } : {};
  const upload = openUpload(api, path, { "Idempotency-Key": planned.key, ...encoding });
  let broken = false;
  upload.answer.catch(() => (broken = true));
  const text = Buffer.from([...good, ...refused].join("\n"));
  const body = planned.gzip ? gzipSync(text, { level: 1 }) : text;
  const parts = planned.ending === "break off" ? PARTS / 2 : PARTS;
  for (let part = 0; part < parts && !broken; part++) {
    const cut = (index: number) => Math.ceil((body.length * index) / PARTS);
    await Promise.race([upload.send(body.subarray(cut(part), cut(part + 1))), upload.answer]);
    await sleep((planned.lines * (part + 1)) % PAUSE_MS_MAX);
  }
  if (planned.ending === "break off") upload.breakOff();
  else upload.end();
  return upload.answer;
}
