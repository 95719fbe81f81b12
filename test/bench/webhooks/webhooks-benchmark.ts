import type { Pool } from "pg";
import { pino } from "pino";
import { inTransaction } from "../../../api/base/postgres/connection.js";
import { enqueueWebhookEvent } from "../../../api/base/outbox/webhook-outbox.js";
import { type ApiClient, connectApi } from "../../../deploy/demo/api-client.js";
import { connectPostgres } from "../../../deploy/stores/connect-postgres.js";
import type { BenchResult } from "../common/benchmark.js";
import { OWNER, createBenchAccount } from "../common/create-bench-account.js";
import { type MeasuredProgram, programBenchmark } from "../common/measure-program.js";
import { timesOf } from "../common/format-numbers.js";
import { overRounds } from "../common/median.js";
import { factTable, report } from "../common/report.js";
import type { Program } from "../common/spawn-program.js";
import { secondsSince } from "../common/seconds-since.js";
import { sendBare, stageEvent } from "./webhooks-peer.js";
import { type BenchReceivers, openBenchReceivers } from "./webhooks-receivers.js";

/** Deliveries from the outbox with one of ten receivers dead, beside the same requests without an outbox. */
export const webhooksBenchmark = programBenchmark("webhooks", {
  summary: "deliveries to ten receivers of which one is dead, beside bare signed POSTs without an outbox",
  // The receivers are on this machine.
  variables: { WEBHOOK_ALLOW_PRIVATE_NETWORKS: "true" },
  measure,
  report: webhooksReport,
});

const LIVE = 9;
const EVENTS = 600;
const WARM_UP_EVENTS = 100;

async function measure({ program, rounds, open, onProgress }: MeasuredProgram): Promise<WebhooksRound[]> {
  const receivers = open.use(await openBenchReceivers(LIVE));
  const { api, postgres } = await program.ready();
  const pg = connectPostgres({ url: postgres, connectionsMax: 1, log: pino({ level: "silent" }) });
  open.defer(() => pg.end());
  const setup = { pg, receivers, ownerId: await makeWebhooks(program, api, { pg, receivers }) };
  return runRounds(setup, { rounds, onProgress });
}

interface Setup {
  pg: Pool;
  receivers: BenchReceivers;
  ownerId: string;
}

async function makeWebhooks(
  { dataDir }: Program,
  api: string,
  { pg, receivers }: Omit<Setup, "ownerId">,
): Promise<string> {
  const client: ApiClient = connectApi(api, await createBenchAccount(dataDir));
  for (const url of [...receivers.live, receivers.dead])
    await client.post(`/v2/${OWNER}/webhooks`, { url, event_kinds: ["company-funnel-stage-changed"] });
  const { rows } = await pg.query<{ id: string }>("select id from owners where name = $1", [OWNER]);
  const [owner] = rows;
  if (owner === undefined) throw new Error(`there is no owner ${OWNER}`);
  return owner.id;
}

async function runRounds(
  setup: Setup,
  { rounds, onProgress }: { rounds: number; onProgress: (sentence: string) => void },
): Promise<WebhooksRound[]> {
  onProgress("warming up");
  await deliverEvents(setup, WARM_UP_EVENTS);
  await sendBare(setup.receivers.live, WARM_UP_EVENTS);
  const done: WebhooksRound[] = [];
  for (let round = 1; round <= rounds; round += 1) {
    onProgress(
      `round ${round} of ${rounds}: ${EVENTS} events for ${LIVE} receivers and a dead one, then as bare POSTs`,
    );
    const ours = await deliverEvents(setup, EVENTS);
    const peer = await sendBare(setup.receivers.live, EVENTS);
    done.push({ deliveries: EVENTS * LIVE, oursSeconds: ours.seconds, again: ours.again, peerSeconds: peer });
  }
  return done;
}

/** Measures from the commit of the events to the last receipt. As in a job, all events are in one transaction. */
async function deliverEvents(
  { pg, receivers, ownerId }: Setup,
  events: number,
): Promise<{ seconds: number; again: number }> {
  const all = receivers.expect(events * LIVE);
  await inTransaction(pg, async (client) => {
    for (let made = 0; made < events; made += 1)
      await enqueueWebhookEvent(client, { ownerId, ...stageEvent(), createdAt: new Date() });
  });
  const begun = performance.now();
  await all;
  return { seconds: secondsSince(begun), again: receivers.again() };
}

export interface WebhooksRound {
  /** Deliveries to receivers that answer. */
  deliveries: number;
  oursSeconds: number;
  /** Repeated deliveries. */
  again: number;
  peerSeconds: number;
}

/** `delivered_again`: in all rounds. */
export function webhooksReport(rounds: readonly WebhooksRound[]): BenchResult {
  const { deliveries, ours, bare_posts } = overRounds(
    rounds.map(({ deliveries: sent, oursSeconds, peerSeconds }) => ({
      deliveries: sent,
      ours: { deliveries_per_second: sent / oursSeconds },
      bare_posts: { deliveries_per_second: sent / peerSeconds },
    })),
  );
  const facts = { ...ours, delivered_again: rounds.reduce((total, { again }) => total + again, 0) };
  const ratio = ours.deliveries_per_second / bare_posts.deliveries_per_second;
  return report({
    title: `webhooks: ${deliveries} deliveries to nine receivers beside a dead one, ${timesOf(rounds.length)}`,
    tables: [
      factTable("", [
        ["this program", facts],
        ["bare signed POSTs", bare_posts],
      ]),
    ],
    notes: [`${ratio.toFixed(2)} of the rate without an outbox and a log.`],
    json: { deliveries, rounds: rounds.length, ...facts, peers: { bare_posts }, ratio },
  });
}
