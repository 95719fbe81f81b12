import { basename, dirname, join } from "node:path";
import { openSnapshot, type FolderSnapshot } from "./snapshot-folder.js";

interface Place {
  dataDir: string;
  /** On the same disk as the data directory. */
  place: string;
}

/** PostgreSQL writes into its files, so they are copied. */
export function postgresSnapshot({ dataDir, place }: Place): FolderSnapshot {
  const leftOut = new Set(["lib", "data.new", "initdb-password", join("data", "postmaster.pid")]);
  return openSnapshot({
    from: join(dataDir, "postgres"),
    to: join(place, "postgres"),
    isLeftOut: (path) => leftOut.has(path) || dirname(path) === join("data", "pg_stat_tmp"),
    isImmutable: () => false,
  });
}

/** `<partition>_<first block>_<last block>_<level>`, and after a mutation `_<version>`. */
const PART = /^[^_]+_\d+_\d+_\d+(?:_\d+)?$/;
const UNFINISHED = /^(tmp|delete_tmp)_/;

/** A part of ClickHouse has its name once it is complete, and is never written again. */
export function clickHouseSnapshot({ dataDir, place }: Place): FolderSnapshot {
  return openSnapshot({
    from: join(dataDir, "clickhouse"),
    to: join(place, "clickhouse"),
    isLeftOut: (path) => UNFINISHED.test(basename(path)) || dirname(path) === join("data", "tmp"),
    isImmutable: (path) => PART.test(basename(path)) && path.startsWith(join("data", "store")),
  });
}
