import { DAY_MS } from "../../schemas/date-range.js";

export interface NoteHostsOptions {
  /** Keeps that the host was used today. */
  note: (host: string) => Promise<void>;
  /** Milliseconds since the epoch. */
  now: () => number;
  onFailure: (error: unknown) => void;
  hostsMax?: number;
}

/** Callers choose the header `Host`: without a bound they could fill the memory and the table. */
const HOSTS_MAX = 1_000;
/** Nothing else can be a package's domain: a full name whose last label is no number. */
const DOMAIN = /^(?=.{3,253}$)(?:[a-z0-9-]{1,63}\.)+(?![0-9]+$)[a-z0-9-]{1,63}$/;
/** Between a failure and the next attempt. */
const RETRY_MS = 60_000;

/** Notes each host once a day, up to a number of hosts. A host that could not be noted is tried again when it is used. */
export function noteHosts({
  note,
  now,
  onFailure,
  hostsMax = HOSTS_MAX,
}: NoteHostsOptions): (host: string) => void {
  let day = -1;
  let quietUntil = 0;
  const noted = new Set<string>();
  return (host) => {
    if (noted.has(host) && day === dayOf(now())) return;
    if (day !== dayOf(now())) noted.clear();
    day = dayOf(now());
    if (noted.size >= hostsMax || now() < quietUntil || !DOMAIN.test(host)) return;
    noted.add(host);
    note(host).catch((error: unknown) => {
      noted.delete(host);
      quietUntil = now() + RETRY_MS;
      onFailure(error);
    });
  };
}

function dayOf(time: number): number {
  return Math.floor(time / DAY_MS);
}
