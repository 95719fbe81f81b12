import type { ClickHouseClient } from "@clickhouse/client";

/** Answers statements: a server of ClickHouse, or the first of several that is up. */
export type ClickHouse = Pick<ClickHouseClient, "command" | "exec" | "insert" | "query">;

/** Servers that keep the same rows: replicas. Several shards share the rows of an installation among them. */
export interface Shard {
  /** Stands in the notes of recorded ranges, so it never changes. Undefined where there is one server. */
  readonly name: string | undefined;
  /** The shard's own tables. A server that is down is passed over: every statement must be one that can be repeated. */
  readonly tables: ClickHouse;
  readonly servers: readonly ClickHouse[];
  /** A server that has every row of these tables that any server of the shard has stored. Rejects if none is sure to. */
  withStored(tables: readonly string[]): Promise<ClickHouse>;
  /** A server that has every row of these tables whose insert was answered. */
  withAnswered(tables: readonly string[]): Promise<ClickHouse>;
  /** As `Shards.sync`, of the rows of this shard. */
  sync(): Promise<void>;
  /**
   * When its server started, in ms of that clock, within a second. A power cut before the next `sync` may have taken rows of
   * an insert and left its token, or the other way round. 0 where tokens and rows stay in step.
   */
  startedAt(): Promise<number>;
}

/** All servers of ClickHouse. One server is one shard with one replica. */
export interface Shards {
  /** Reads the rows of all shards, or rejects: the tables have the names of those of a shard. */
  readonly all: ClickHouse;
  readonly shards: readonly Shard[];
  /** The shard that a recorded range went to. Throws if it is not among these. */
  named(name: string | undefined): Shard;
  /** The shard that a new range goes to: one that takes inserts, and rather one with much room. */
  choose(): Promise<Shard>;
  /** The name by which statements of `all` write to a table of the server that runs them. */
  own(table: string): string;
  /** The name by which statements of one shard read a table with the rows of all shards. */
  whole(table: string): string;
  /** Waits until `all` reads every row of these tables, or of all, whose insert was answered. */
  catchUp(tables?: readonly string[]): Promise<void>;
  /**
   * Resolves once every row whose insert was answered before the call survives a power cut. Await it before something that
   * survives says that they are stored.
   */
  sync(): Promise<void>;
  /** That of each shard. */
  startedAt(): Promise<readonly number[]>;
  /**
   * Rejects if the servers know a shard that is not among these: `all` reads its rows, and nothing here
   * changes them.
   */
  requireEvery(): Promise<void>;
}

/** The state of a server of a cluster, by its own account. */
export interface ServerFacts {
  readOnlyTables: number;
  queueEntries: number;
  delaySeconds: number;
  /** Inserts that it refused or was not sure of because other servers of the shard were missing, since its start. */
  quorumFailures: number;
}

export interface ServerState {
  shard: string;
  /** Host and port. */
  server: string;
  quorum: number;
  isUp: boolean;
  /** Undefined for a server that is down, has no tables, or lets its user read no system tables. */
  facts: ServerFacts | undefined;
}
