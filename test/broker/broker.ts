import { storeFailure } from "../../deploy/process/start-failure.js";
import type { EndSignal, ServerProcess } from "../../deploy/stores/embedded/server-process.js";
import type { BrokerFolder } from "./lock-broker-folder.js";

/** A Kafka broker on 127.0.0.1 that ends with this process. It is not restarted when it dies. */
export interface Broker extends AsyncDisposable {
  /** One address: `127.0.0.1:<port>`. */
  readonly brokers: string[];
  readonly pid: number;
  /** Resolves with the reason when the broker dies by itself; never after disposal. */
  readonly exited: Promise<Error>;
  kill(signal: NodeJS.Signals): void;
}

export interface RunningBroker {
  child: ServerProcess;
  /** `127.0.0.1:9092` */
  address: string;
  /** The signals that stop it, in order. */
  signals: readonly EndSignal[];
}

/** Wraps the process of a broker. Disposal stops it and unlocks its folder. */
export function openBroker({ child, address, signals }: RunningBroker, folder: BrokerFolder): Broker {
  let stopping = false;
  let ending: Promise<void> | undefined;
  const failure = (end: string) =>
    storeFailure(`Kafka on ${folder.path} ended (${end})`, { dir: folder.path, tail: child.tail() });
  return {
    brokers: [address],
    pid: child.pid,
    exited: new Promise((resolve) => {
      void child.gone.then((end) => {
        if (!stopping) resolve(failure(end));
      });
    }),
    // Uses the child's handle, because its process id may be reused after it ended.
    kill: (signal) => void child.end([{ signal, patienceMs: 0 }]),
    [Symbol.asyncDispose]: () => (ending ??= end()),
  };

  async function end(): Promise<void> {
    stopping = true;
    try {
      await child.end(signals);
    } finally {
      folder[Symbol.dispose]();
    }
  }
}
