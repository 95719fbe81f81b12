import { mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { type Database, type Key, type RootDatabase, type Transaction, open } from "lmdb";
import { LOG_SIZES } from "../stores/embedded/event-log/event-log-tables.js";

/** The embedded event log as it was at one moment, while others go on writing it. */
export interface LogSnapshot extends AsyncDisposable {
  /** From now on the snapshot has what is committed now, and nothing that comes later. */
  pin(): void;
  /** Writes a log of its own into the folder. */
  copyTo(dir: string): Promise<void>;
}

/** The tables of openLogTables, and whether their values have versions. */
const TABLES = { state: true, cursors: true, facts: false, records: false } as const;

const COMMIT_BYTES = 16 * 2 ** 20;

export function openLogSnapshot(dir: string): LogSnapshot {
  const source = open({ path: dir, ...LOG_SIZES, readOnly: true });
  const tables = openTables(source);
  let pinned: Transaction | undefined;
  let isOpen = true;
  return {
    pin: () => void (pinned = source.useReadTransaction()),
    async copyTo(to) {
      if (pinned === undefined) throw new Error("the event log's snapshot is not pinned");
      mkdirSync(to, { mode: 0o700 });
      const target = open({ path: to, ...LOG_SIZES, overlappingSync: false, noSync: true });
      try {
        const copies = openTables(target);
        for (const [index, table] of tables.entries())
          copyTable(table, { to: copies[index] as typeof table, root: target, transaction: pinned });
      } finally {
        await target.close();
      }
      rmSync(join(to, "lock.mdb"), { force: true });
    },
    async [Symbol.asyncDispose]() {
      if (!isOpen) return;
      isOpen = false;
      pinned?.done();
      await source.close();
    },
  };
}

type Bytes = Database<Buffer, Key>;

function openTables(root: RootDatabase): Bytes[] {
  return Object.entries(TABLES).map(([name, useVersions]) =>
    root.openDB<Buffer, Key>({ name, encoding: "binary", useVersions }),
  );
}

/** In pieces, so that memory is bounded. */
function copyTable(
  from: Bytes,
  { to, root, transaction }: { to: Bytes; root: RootDatabase; transaction: Transaction },
): void {
  const entries = from.getRange({ transaction, versions: true })[Symbol.iterator]();
  let next = entries.next();
  while (next.done !== true)
    root.transactionSync(() => {
      for (let bytes = 0; bytes < COMMIT_BYTES && next.done !== true; next = entries.next()) {
        const { key, value, version } = next.value;
        void to.putSync(key, value, version as number);
        bytes += value.length;
      }
    });
}
