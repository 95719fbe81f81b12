import { gzipSync } from "node:zlib";
import { pause } from "../../../schemas/async/pause.js";
import type { EventImport } from "../../../schemas/records/import-store.js";
import { type UploadAnswer, openUpload } from "../../support/imports/open-upload.js";
import type { FaultWorld } from "../worlds/fault-world.js";
import type { PlannedImport } from "../plans/plan-seed.js";
import { generateLines } from "../../../deploy/demo/generate-events.js";
import { Random } from "../../../deploy/demo/random.js";

export interface SentImport {
  planned: PlannedImport;
  good: readonly string[];
  refused: readonly string[];
  packageId: string;
}

const PARTS = 8;
const PAUSE_MS_MAX = 15;
const RETRY_MS = 100;
/** A broker may be unavailable for a minute. */
const TRIES_MS_MAX = 180_000;

export interface ImportAnswer {
  /** Undefined for a sender that breaks off and does not come back. */
  answeredId: string | undefined;
  /** How often it was answered 503. */
  refusals: number;
  /** Things that an answer should have said and did not. */
  complaints: string[];
}

/**
 * Sends an import as a careful client does: under one Idempotency-Key, again after a lost connection or a 503, until
 * it is answered.
 */
export async function sendImport(world: FaultWorld, sent: SentImport): Promise<ImportAnswer> {
  const answered: ImportAnswer = { answeredId: undefined, refusals: 0, complaints: [] };
  const deadline = Date.now() + TRIES_MS_MAX;
  for (;;) {
    const answer = await sendOnce(world, sent).catch(() => undefined);
    if (answer?.status === 503) noteRefusal(answer, answered);
    if (sent.planned.ending === "break off") return answered;
    if (answer?.status === 200) return { ...answered, answeredId: (answer.body as EventImport).id };
    const said = answer === undefined ? "the connection broke" : JSON.stringify(answer);
    if (answer !== undefined && !isTryAgain(answer)) throw new Error(`an import was answered ${said}`);
    if (Date.now() > deadline)
      throw new Error(`an import was not taken within ${TRIES_MS_MAX / 1000} s: ${said}`);
    await pause(RETRY_MS);
    await world.whenRunning();
  }
}

/** A refusal says when to come back. */
function noteRefusal({ headers, body }: UploadAnswer, answered: ImportAnswer): void {
  answered.refusals += 1;
  if (!(Number(headers["retry-after"]) > 0))
    answered.complaints.push(`a 503 came without Retry-After: ${JSON.stringify(body)}`);
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
    await pause((planned.lines * (part + 1)) % PAUSE_MS_MAX);
  }
  if (planned.ending === "break off") upload.breakOff();
  else upload.end();
  return upload.answer;
}

/** Long enough that a few thousand lines are several chunks. */
const FILLER = "x".repeat(700);

/** The lines of an import, good ones first: an id in three out of four, now and then one that the same body had before. */
export function composeBody(
  planned: PlannedImport,
  { seed, packageId }: { seed: number; packageId: string },
): { good: string[]; refused: string[] } {
  const random = new Random(seed + planned.startAt + planned.lines);
  const mix = {
    seed: seed * 31 + planned.lines,
    count: planned.lines,
    clients: 300,
    from: "2025-03-10",
    days: 10,
    packages: [{ id: packageId, libraryType: "docker" as const }],
    overrideShare: 0,
    brokenShare: 0,
  };
  const good: string[] = [];
  for (const line of generateLines(mix)) {
    if (line.trim() === "") continue;
    const at = random.chance(0.1) ? random.below(good.length + 1) : good.length;
    const id = random.chance(0.75) ? `,"$unique_id":"e${planned.startAt + at}"` : "";
    good.push(`${line.slice(0, -1)},"filler":"${FILLER}"${id}}`);
  }
  const refused = Array.from(
    { length: planned.refused },
    (_, index) => `not an event ${planned.key} ${index}`,
  );
  return { good, refused };
}
