import { pause } from "../../../schemas/async/pause.js";
import { ACTIVE_IMPORTS_MAX } from "../../../api/features/imports/start-imports.js";
import type { EventImport, ImportStatus } from "../../../schemas/records/import-store.js";
import { OWNER } from "../common/create-bench-account.js";
import type { KeepAliveConnections } from "../common/keep-alive-connections.js";
import type { Usage } from "../usage/sample-usage.js";
import { secondsSince } from "../common/seconds-since.js";

export const SENDERS = ACTIVE_IMPORTS_MAX;

export interface SmallSetup {
  connections: KeepAliveConnections;
  token: string;
  path: string;
}

export interface SentImports {
  seconds: number;
  msToAnswer: Float64Array;
  msToDone: Float64Array;
}

export interface SmallRun extends SentImports {
  usage: Usage;
}

/** Each sender sends its next body when its last import is done. */
export async function sendSmallImports(setup: SmallSetup, bodies: readonly Buffer[]): Promise<SentImports> {
  const sent = {
    msToAnswer: new Float64Array(bodies.length),
    msToDone: new Float64Array(bodies.length),
  };
  const endings = watchEndings(setup);
  const startedAt = performance.now();
  let next = 0;
  const sendAll = async () => {
    for (let index = next++; index < bodies.length; index = next++) {
      const sentAt = performance.now();
      const id = await postBody(setup, bodies[index] as Buffer);
      sent.msToAnswer[index] = performance.now() - sentAt;
      await endings.until(id);
      sent.msToDone[index] = performance.now() - sentAt;
    }
  };
  try {
    await Promise.race([endings.failed, Promise.all(Array.from({ length: SENDERS }, sendAll))]);
  } finally {
    await endings.stop();
  }
  return { ...sent, seconds: secondsSince(startedAt) };
}

async function postBody({ connections, token, path }: SmallSetup, body: Buffer): Promise<string> {
  const headers = { Authorization: `Bearer ${token}`, "Content-Type": "application/ndjson" };
  const answer = await connections.send({ method: "POST", path, headers, body });
  if (answer.status !== 200)
    throw new Error(`POST ${path} answered ${answer.status}: ${JSON.stringify(answer.body)}`);
  return (answer.body as EventImport).id;
}

const POLL_MS = 20;

/** One list of the running imports for all senders: reading each by itself would cost more than the imports. */
function watchEndings(setup: SmallSetup) {
  const waiting = new Map<string, () => void>();
  let stopped = false;
  const poll = async () => {
    while (!stopped) {
      const asked = [...waiting];
      const running = asked.length === 0 ? [] : await listImports(setup, "importing");
      const ids = new Set(running.map(({ id }) => id));
      for (const [id, resolve] of asked) {
        if (ids.has(id)) continue;
        waiting.delete(id);
        resolve();
      }
      await pause(POLL_MS);
    }
    const [aborted] = await listImports(setup, "aborted");
    if (aborted !== undefined) throw new Error(`import ${aborted.id} ended as aborted`);
  };
  const polling = poll();
  return {
    failed: polling.then(() => new Promise<never>(() => undefined)),
    until: (id: string) => new Promise<void>((resolve) => waiting.set(id, resolve)),
    async stop() {
      stopped = true;
      await polling;
    },
  };
}

async function listImports({ connections, token }: SmallSetup, status: ImportStatus): Promise<EventImport[]> {
  const path = `/v2/imports/${OWNER}?status=${status}&per_page=${SENDERS}`;
  const headers = { Authorization: `Bearer ${token}` };
  const { body } = await connections.send({ method: "GET", path, headers });
  return (body as { event_imports: EventImport[] }).event_imports;
}
