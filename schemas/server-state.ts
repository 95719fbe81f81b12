/** The state of a server of a cluster, by its own account. */
export interface ServerFacts {
  readOnlyTables: number;
  /** Parts and merges that it has still to take over from other servers of its shard. */
  queueEntries: number;
  /** How far the table that is furthest behind is behind. */
  delaySeconds: number;
  /** Inserts that it refused or was not sure of because other servers of the shard were missing, since its start. */
  quorumFailures: number;
}

export interface ServerState {
  shard: string;
  /** Host and port. */
  server: string;
  /** Servers of the shard that must have a row. */
  quorum: number;
  isUp: boolean;
  /** Undefined for a server that is down, has no tables, or lets its user read no system tables. */
  facts: ServerFacts | undefined;
}
