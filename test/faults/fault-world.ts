import { mkdtemp, readdir, rename, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import pg from "pg";
import { type ApiClient, connectApi } from "../../deploy/demo/api-client.js";
import { channelOf, FAULT_POINTS } from "../../schemas/fault-point.js";
import { makeOrganization } from "../support/make-artifacts.js";
import { openRecount, type RecountBodies } from "../support/open-recount.js";
import { startToolchain, type Toolchain } from "../support/start-toolchain.js";
import { tail } from "../support/toolchain-process.js";
import { openPersistentClickHouse, type PersistentClickHouse } from "./persistent-clickhouse.js";
import type { PlannedFault } from "./plan-seed.js";
import { supervise } from "./supervise.js";

/** The whole program with faults to come, one for all seeds of a run: what one seed leaves behind, the next one meets. */
export interface FaultWorld extends AsyncDisposable {
  readonly toolchain: Toolchain;
  readonly organization: string;
  readonly recountBodies: RecountBodies;
  /** Of the process that runs now. */
  readonly api: ApiClient;
  /** Arms these faults in place of those before. */
  arm(faults: readonly PlannedFault[]): Promise<void>;
  /** Nothing strikes any more; resolves when what has struck is over. */
  disarm(): Promise<void>;
  /** Which of the faults armed last were carried out, by their place in the list. */
  carriedOut(): Promise<Set<number>>;
  /** Runs `work` on a connection to the program's PostgreSQL. */
  withPostgres<T>(work: (client: pg.Client) => Promise<T>): Promise<T>;
  readonly clickhouse: PersistentClickHouse;
  /** Waits until the program runs; it is started again, as a supervisor would, whenever it ends. */
  whenRunning(): Promise<void>;
}

const ORGANIZATION = "survivor";
const ARM = new URL("arm.mjs", import.meta.url).href;

export async function openFaultWorld(): Promise<FaultWorld> {
  const dir = await mkdtemp(join(tmpdir(), "toolchain-faults-"));
  const armed = openArmed(dir);
  await armed.put([]);
  const toolchain = await startToolchain({
    env: {
      NODE_OPTIONS: `--import=${ARM}`,
      FAULT_PLAN: armed.file,
      FAULT_CHANNELS: FAULT_POINTS.map(channelOf).join(","),
    },
  });
  const account = await toolchain.newAccount("ada");
  await makeOrganization(account, ORGANIZATION);
  await toolchain.admin("grant-export", ORGANIZATION);
  const supervisor = supervise(toolchain);
  return {
    toolchain,
    organization: ORGANIZATION,
    recountBodies: await openRecount(),
    get api() {
      return connectApi(toolchain.api, account.token);
    },
    arm: (faults) => armed.put(faults),
    async disarm() {
      await armed.clear();
      await sleep(FAULT_MS_MAX);
      await supervisor.whenRunning();
      await whenReady(toolchain);
    },
    carriedOut: () => armed.carriedOut(),
    withPostgres: (work) => withPostgres(toolchain, work),
    clickhouse: openPersistentClickHouse(() => toolchain.endpoints.clickhouse ?? ""),
    whenRunning: () => supervisor.whenRunning(),
    async [Symbol.asyncDispose]() {
      await supervisor.stop();
      await toolchain.close();
      await rm(dir, { recursive: true, force: true });
    },
  };
}

/** The file that the preloaded module reads, and the marks that it leaves. */
function openArmed(dir: string) {
  const file = join(dir, "plan.json");
  let plans = 0;
  async function write(plan: readonly object[]): Promise<void> {
    await writeFile(`${file}.new`, JSON.stringify(plan));
    await rename(`${file}.new`, file);
  }
  return {
    file,
    async put(faults: readonly PlannedFault[]): Promise<void> {
      plans += 1;
      const plan = faults.flatMap(({ point, action, hit, delayMs }, index) =>
        point === "between-rows-and-views"
          ? []
          : [{ id: `${plans}-${index}`, channel: channelOf(point), action, hit, delayMs }],
      );
      await write(plan);
    },
    clear: () => write([]),
    async carriedOut(): Promise<Set<number>> {
      const marks = (await readdir(dir)).map((name) => name.split(".").at(-1)?.split("-") ?? []);
      return new Set(marks.filter(([plan]) => plan === String(plans)).map(([, index]) => Number(index)));
    },
  };
}

/** A fault that is carried out late, such as the death of a store in the middle of an insert, has struck by then. */
const FAULT_MS_MAX = 200;
const READY_MS_MAX = 60_000;

async function whenReady(toolchain: Toolchain): Promise<void> {
  const deadline = Date.now() + READY_MS_MAX;
  const isReady = async () => (await fetch(`${toolchain.api}/readyz`)).ok;
  while (!(await isReady().catch(() => false))) {
    if (Date.now() > deadline) throw new Error(`the stores did not come back:\n${tail(toolchain.log())}`);
    await sleep(50);
  }
}

async function withPostgres<T>(toolchain: Toolchain, work: (client: pg.Client) => Promise<T>): Promise<T> {
  const client = new pg.Client(toolchain.endpoints.postgres);
  client.on("error", () => undefined);
  await client.connect();
  try {
    return await work(client);
  } finally {
    await client.end();
  }
}
