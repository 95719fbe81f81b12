import { limitConcurrency } from "../../../schemas/async/limit-concurrency.js";
import { limitTime } from "../../../schemas/async/limit-time.js";
import { Problem } from "../../../schemas/problem.js";

/** The place of one export among all that are read at once. */
export interface ExportPermit extends Disposable {
  /** Called when a part is handed to the caller, and when the caller has taken it. */
  onHanded(): void;
  onTaken(): void;
}

export interface ExportCaller {
  accountId: string;
  /** Destroyed by itself after `setTimeout` once nothing moves on it for that long; 0 ends that. */
  socket: { destroy: () => unknown; setTimeout: (idleMs: number) => unknown };
  /** Aborted when the caller leaves. */
  signal: AbortSignal;
  /** Called when this export is broken off for others that wait. */
  onBrokenOff?: () => void;
}

/** @throws Problem `unavailable` where others keep the caller waiting for long */
export type TakeExportPermit = (caller: ExportCaller) => Promise<ExportPermit>;

export interface ExportPermits {
  take: TakeExportPermit;
  /** The number of permits that are not released. */
  used: () => number;
}

export const EXPORT_LIMITS = {
  /** As many results as ClickHouse streams to one process at once. */
  inAll: 20,
  /** The exports of one account, so that its slow ones do not keep everybody out. */
  perAccount: 5,
  waitMsMax: 10_000,
  /** How long a caller may take for one part, at most 1 MiB, while others wait. */
  stalledMsMax: 20_000,
  /** How long nothing may move between a part and its caller, the first and the last bytes included, if nobody waits. */
  idleMsMax: 300_000,
};

/** Far above `inAll`: only bounds the connections that wait for their share. */
const CONNECTIONS_MAX = 1_000;

type ExportPermitOptions = Partial<typeof EXPORT_LIMITS> & { now?: () => number };

interface Holder {
  handedAt: number | undefined;
  breakOff: () => void;
}

/**
 * Shares the exports that are streamed at once. A connection has one at a time: pipelined requests wait for each other,
 * because only the first can be written. A caller who reads nothing loses its place, and its connection: soon to others that
 * wait, and in minutes without.
 */
export function openExportPermits({
  now = () => performance.now(),
  ...limits
}: ExportPermitOptions = {}): ExportPermits {
  const { inAll, perAccount, waitMsMax, stalledMsMax, idleMsMax } = { ...EXPORT_LIMITS, ...limits };
  const takeConnection = limitConcurrency({ perKey: 1, inAll: CONNECTIONS_MAX });
  const takeShare = limitConcurrency({ perKey: perAccount, inAll });
  const connections = new WeakMap<object, string>();
  const holders = new Set<Holder>();
  let lastConnection = 0;

  function connectionOf(socket: object): string {
    const known = connections.get(socket) ?? String(++lastConnection);
    connections.set(socket, known);
    return known;
  }

  function breakOffStalled(): void {
    for (const { handedAt, breakOff } of holders)
      if (handedAt !== undefined && now() - handedAt >= stalledMsMax) breakOff();
  }

  const take: TakeExportPermit = async ({ accountId, socket, signal, onBrokenOff }) => {
    using limit = limitTime(waitMsMax, { outer: signal });
    const sweep = setInterval(breakOffStalled, Math.min(1_000, waitMsMax / 4));
    let connection: Disposable | undefined;
    let share: Disposable;
    try {
      connection = await takeConnection([connectionOf(socket)], limit.signal);
      share = await takeShare([accountId], limit.signal);
    } catch (error) {
      connection?.[Symbol.dispose]();
      throw limit.isOver ? waitedTooLong(waitMsMax, error) : error;
    } finally {
      clearInterval(sweep);
    }
    const breakOff = () => {
      onBrokenOff?.();
      socket.destroy();
    };
    const holder: Holder = { handedAt: undefined, breakOff };
    holders.add(holder);
    return {
      onHanded() {
        holder.handedAt = now();
        socket.setTimeout(idleMsMax);
      },
      onTaken() {
        holder.handedAt = undefined;
        // ClickHouse may take its time for the next part.
        socket.setTimeout(0);
      },
      [Symbol.dispose]() {
        if (!holders.delete(holder)) return;
        // Before the socket, whose calls may throw: a permit that stays taken is lost until the next start.
        share[Symbol.dispose]();
        connection[Symbol.dispose]();
        // The last bytes may still be on their way. Node sets another time once they are.
        socket.setTimeout(idleMsMax);
      },
    };
  };
  return { take, used: () => holders.size };
}

function waitedTooLong(waitMsMax: number, cause: unknown): Problem {
  return new Problem("unavailable", "Too many exports are running. Try again later.", {
    retryAfterSeconds: Math.ceil(waitMsMax / 1000),
    cause,
  });
}
