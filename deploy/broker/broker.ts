import { storeFailure } from "../process/start-failure.js";
import type { EndSignal, ServerProcess } from "../stores/embedded/server-process.js";
import type { BrokerFolder } from "./lock-broker-folder.js";

/** A Kafka broker on 127.0.0.1 that ends with this process. It is not started again when it dies. */
export interface Broker extends AsyncDisposable {
  /** `127.0.0.1:<port>`, alone. */
  readonly brokers: string[];
  readonly pid: number;
  /** Resolves with the reason when it died; never when it was disposed of. */
  readonly exited: Promise<Error>;
  kill(signal: NodeJS.Signals): void;
}

/** A broker that answers. */
export interface RunningBroker {
  child: ServerProcess;
  /** `127.0.0.1:9092` */
  address: string;
  /** How it is asked to end. */
  signals: readonly EndSignal[];
}

/** The broker as the rest of the program sees it; disposing of it also gives its folder back. */
export function openBroker({ child, address, signals }: RunningBroker, folder: BrokerFolder): Broker {
  let stopping = false;
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
    // Through the child's handle: once it is gone, its number may be another's.
    kill: (signal) => void child.end([{ signal, patienceMs: 0 }]),
    async [Symbol.asyncDispose]() {
      stopping = true;
      try {
        await child.end(signals);
      } finally {
        folder[Symbol.dispose]();
      }
    },
  };
}
