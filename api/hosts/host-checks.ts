import { limitConcurrency } from "../../schemas/async/limit-concurrency.js";
import { verificationName, type HostVerification } from "../../schemas/contracts/host-verification.js";
import { Problem } from "../../schemas/problem.js";
import { FailureLimit } from "../identity/failure-limit.js";
import type { Postgres } from "../postgres/query.js";
import { readHostStates, type HostState } from "./verified-hosts.js";

/** The texts of a name's TXT records, none if it has none. Rejects if the DNS gives no answer. */
export type ResolveTxt = (name: string) => Promise<string[]>;

/** Shows whether hosts are their owners'; absent where the service does not ask for that. */
export interface HostChecks {
  /** Describes each host of the owner, by its name. */
  describe(
    pg: Postgres,
    owned: { ownerId: string; hosts: readonly string[] },
  ): Promise<Map<string, HostVerification>>;
  /**
   * Whether the record of a host is there now and was not seen before. Throws `rate-limited` for an owner who asks too
   * often, and `unavailable` where the DNS gives no answer.
   */
  look(pg: Postgres, owned: { ownerId: string; host: string }): Promise<boolean>;
}

/** In a minute and for one owner. */
const LOOKS_MAX = 30;
const AT_ONCE = { perKey: 2, inAll: 8 };
const TIME_MS_MAX = 15_000;

export function createHostChecks(resolveTxt: ResolveTxt): HostChecks {
  const limit = new FailureLimit(LOOKS_MAX);
  const take = limitConcurrency(AT_ONCE);
  return {
    async describe(pg, owned) {
      const states = await readHostStates(pg, owned);
      return new Map(states.map((state) => [state.host, describeState(state)]));
    },
    async look(pg, { ownerId, host }) {
      const [state] = await readHostStates(pg, { ownerId, hosts: [host] });
      if (state === undefined || state.verified) return false;
      const retryAfterSeconds = await limit.countAttempt(ownerId);
      if (retryAfterSeconds > 0)
        throw new Problem("rate-limited", "The DNS was asked too often for you; try again later.", {
          retryAfterSeconds,
        });
      using _permit = await take([ownerId], AbortSignal.timeout(TIME_MS_MAX));
      return await lookAt(state, resolveTxt);
    },
  };
}

/** Whether the record of a host is there. Throws `unavailable` where the DNS gives no answer. */
export async function lookAt(state: HostState, resolveTxt: ResolveTxt): Promise<boolean> {
  const texts = await resolveTxt(verificationName(state.host)).catch((cause: unknown) => {
    throw new Problem("unavailable", `The DNS gave no answer for ${verificationName(state.host)}.`, {
      retryAfterSeconds: 60,
      cause,
    });
  });
  return texts.some((text) => text.trim() === state.token);
}

function describeState({ host, token, verified }: HostState): HostVerification {
  return { verified, verification: { type: "TXT", name: verificationName(host), value: token } };
}
