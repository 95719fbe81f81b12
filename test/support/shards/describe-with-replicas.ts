import { describeOrSkip } from "../describe-or-skip.js";
import { findGivenServers, type GivenServers } from "./given-servers.js";

/** A suite on given servers with replicas. Without them it is skipped, also in CI: no package has a server that replicates. */
export function describeWithReplicas(name: string, suite: (servers: GivenServers) => void): void {
  const servers = findGivenServers();
  const missing = "missing" in servers ? servers.missing : undefined;
  describeOrSkip(name, { missing }, () => {
    if (!("missing" in servers)) suite(servers);
  });
}
