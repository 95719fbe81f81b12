import { pause } from "../../../schemas/async/pause.js";
import type { PlannedFault } from "../plans/plan-seed.js";
import type { Cluster } from "../../support/program/start-cluster.js";
import type { Toolchain } from "../../support/program/start-toolchain.js";
import { onPostgres } from "../../support/stores/on-postgres.js";
import { type ArmedPlan, FAULT_MS_MAX, supervise, whenReady } from "./armed-program.js";
import type { FaultWorld } from "./fault-world.js";

interface FaultsOutside {
  /** What the programs need to know for their part. */
  targets?: () => { brokerPid: number };
  /**
   * The part of a fault outside of the process that passed its point (`passer`).
   * @returns whether it struck
   */
  harm: (fault: PlannedFault, passer: number) => Promise<boolean>;
}

interface ArmedCluster extends FaultsOutside {
  cluster: Cluster;
  apis: readonly Toolchain[];
  /** Its stores and brokers, in the order in which they close. */
  below: readonly AsyncDisposable[];
}

/** The processes of a cluster, each started again whenever it ends; disposed of with all that is below it. */
export function armedCluster(armed: ArmedPlan, { cluster, apis, below, ...outside }: ArmedCluster) {
  const supervisors = cluster.members.map(supervise);
  const whenRunning = async () => void (await Promise.all(supervisors.map((each) => each.whenRunning())));
  const following = followFaults(armed, outside);
  return {
    arm: (faults) => following.arm(faults),
    async disarm() {
      await following.disarm();
      await whenRunning();
      await Promise.all(apis.map(whenReady));
    },
    carriedOut: async () => following.struck(),
    withPostgres: (work) => onPostgres(cluster.postgresUrl, work),
    whenRunning,
    async [Symbol.asyncDispose]() {
      await following.stop();
      await Promise.all(supervisors.map((each) => each.stop()));
      for (const each of [cluster, ...below, armed]) await each[Symbol.asyncDispose]();
    },
  } satisfies Partial<FaultWorld>;
}

const LOOK_EVERY_MS = 20;

/** Does the part of each fault that goes on outside of the process that passed its point. */
function followFaults(armed: ArmedPlan, { targets, harm }: FaultsOutside) {
  let following = { stop: () => undefined as void, ended: Promise.resolve(new Map<number, boolean>()) };
  let struck = new Map<number, boolean>();
  const end = () => {
    following.stop();
    return following.ended;
  };
  return {
    async arm(faults: readonly PlannedFault[]): Promise<void> {
      await armed.put(faults, targets?.());
      following = follow(faults);
    },
    async disarm(): Promise<void> {
      await armed.clear();
      await pause(FAULT_MS_MAX);
      struck = await end();
    },
    /** For the end of a run that failed: what was harmed is whole again when it resolves. */
    stop: () =>
      end().then(
        () => undefined,
        () => undefined,
      ),
    struck: () => new Set([...struck].flatMap(([index, didStrike]) => (didStrike ? [index] : []))),
  };

  function follow(faults: readonly PlannedFault[]) {
    let last = false;
    const harming = new Map<number, Promise<boolean>>();
    const look = async () => {
      for (const [index, passer] of await armed.carriedOut())
        if (!harming.has(index)) harming.set(index, begun(harm(faults[index] as PlannedFault, passer)));
    };
    const run = async () => {
      for (; !last; await pause(LOOK_EVERY_MS)) await look();
      await look();
      const ends = [...harming].map(async ([index, end]): Promise<[number, boolean]> => [index, await end]);
      return new Map(await Promise.all(ends));
    };
    return { stop: () => void (last = true), ended: begun(run()) };
  }
}

/** Its failure is heard of when the end of all is awaited, and is not unhandled before. */
function begun<T>(work: Promise<T>): Promise<T> {
  work.catch(() => undefined);
  return work;
}
