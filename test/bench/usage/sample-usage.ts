import { readThreadCpu, threadCpuBetween, type ThreadCpu } from "./thread-cpu.js";
import { PARTS, readProgramParts, type Part, type PartProcess } from "./program-parts.js";

/** The usage of one part of the program. Shared memory counts in each process of PostgreSQL. */
export interface PartUsage {
  cpuSeconds: number;
  residentBeforeBytes: number;
  /** The largest sum over the part's processes in any sample. */
  residentMaxBytes: number;
  anonymousMaxBytes: number;
  /** The kernel's peaks since the start of each process: complete, but without a time. */
  residentPeakBytes: number;
}

/** `client`: this process, which sends the requests. `threads`: the CPU seconds of `service` by kind of thread. */
export type Usage = Record<Part, PartUsage> & { client: { cpuSeconds: number }; threads: ThreadCpu };

export interface UsageSampler extends Disposable {
  /** Takes the last sample. */
  finish(): Usage;
}

const SAMPLE_MS = 250;

/** Samples the processes of `rootPid` and its descendants four times a second until finished or disposed of. */
export function sampleUsage(rootPid: number, read = readProgramParts): UsageSampler {
  const samples = new UsageSamples(read(rootPid));
  const cpuBefore = process.cpuUsage();
  const threadsBefore = readThreadCpu(rootPid);
  const timer = setInterval(() => samples.add(read(rootPid)), SAMPLE_MS);
  return {
    finish() {
      clearInterval(timer);
      samples.add(read(rootPid));
      const { user, system } = process.cpuUsage(cpuBefore);
      const threads = threadCpuBetween(threadsBefore, readThreadCpu(rootPid));
      return { ...samples.usage(), threads, client: { cpuSeconds: (user + system) / 1e6 } };
    },
    [Symbol.dispose]: () => clearInterval(timer),
  };
}

/** CPU seconds times a factor, under the names that reports show, in their order. */
export function cpuSecondsOf({ service, clickhouse, postgres, client, threads }: Usage, factor = 1) {
  return {
    service: service.cpuSeconds * factor,
    main_thread: threads.main * factor,
    enrichment_threads: threads.enrichment * factor,
    other_threads: threads.other * factor,
    clickhouse: clickhouse.cpuSeconds * factor,
    postgres: postgres.cpuSeconds * factor,
    client: client.cpuSeconds * factor,
  };
}

/** The memory of each part, as JSON. */
export function memoryOf(usage: Usage) {
  return byPart((part) => ({
    resident_before_bytes: usage[part].residentBeforeBytes,
    resident_max_bytes: usage[part].residentMaxBytes,
    anonymous_max_bytes: usage[part].anonymousMaxBytes,
    resident_peak_since_start_bytes: usage[part].residentPeakBytes,
  }));
}

/** Sums samples of processes, which may start and end in between. */
export class UsageSamples {
  private readonly cpuBefore: ReadonlyMap<number, number>;
  private readonly last = new Map<number, PartProcess>();
  private readonly before: Record<Part, PartUsage>;
  private readonly largest: Record<Part, PartUsage>;

  constructor(first: readonly PartProcess[]) {
    this.cpuBefore = new Map(first.map(({ pid, cpuSeconds }) => [pid, cpuSeconds]));
    this.before = byPart((part) => totalOf(first, part));
    this.largest = byPart((part) => this.before[part]);
    this.add(first);
  }

  add(sample: readonly PartProcess[]): void {
    for (const one of sample) this.last.set(one.pid, one);
    for (const part of PARTS) this.largest[part] = larger(this.largest[part], totalOf(sample, part));
  }

  usage(): Record<Part, PartUsage> {
    const all = [...this.last.values()];
    return byPart((part) => ({
      ...this.largest[part],
      residentBeforeBytes: this.before[part].residentMaxBytes,
      cpuSeconds: sum(
        all.filter((one) => one.part === part),
        (one) => one.cpuSeconds - (this.cpuBefore.get(one.pid) ?? 0),
      ),
    }));
  }
}

function totalOf(sample: readonly PartProcess[], part: Part): PartUsage {
  const own = sample.filter((one) => one.part === part);
  return {
    cpuSeconds: 0,
    residentBeforeBytes: 0,
    residentMaxBytes: sum(own, (one) => one.residentBytes),
    anonymousMaxBytes: sum(own, (one) => one.anonymousBytes),
    residentPeakBytes: sum(own, (one) => one.residentPeakBytes),
  };
}

function larger(a: PartUsage, b: PartUsage): PartUsage {
  return {
    cpuSeconds: Math.max(a.cpuSeconds, b.cpuSeconds),
    residentBeforeBytes: Math.max(a.residentBeforeBytes, b.residentBeforeBytes),
    residentMaxBytes: Math.max(a.residentMaxBytes, b.residentMaxBytes),
    anonymousMaxBytes: Math.max(a.anonymousMaxBytes, b.anonymousMaxBytes),
    residentPeakBytes: Math.max(a.residentPeakBytes, b.residentPeakBytes),
  };
}

function byPart<Value>(value: (part: Part) => Value): Record<Part, Value> {
  return { service: value("service"), clickhouse: value("clickhouse"), postgres: value("postgres") };
}

function sum<Item>(items: readonly Item[], of: (item: Item) => number): number {
  return items.reduce((total, item) => total + of(item), 0);
}
