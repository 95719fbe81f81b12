import { isDockerThere } from "../broker/docker-broker.js";
import { describeOrSkip } from "../support/describe-or-skip.js";
import { openDockerServers } from "../support/stores/database-servers.js";
import { programOnServers } from "../support/program/program-on-servers.js";

const REASON = "It needs Docker, and no daemon answers: install Docker, or start it.";

/** A suite for containers. Without Docker it is skipped; also in CI, which may be a container itself. */
function describeWithDocker(name: string, suite: () => void): void {
  describeOrSkip(name, { missing: isThere ? undefined : REASON }, suite);
}

const isThere = await isDockerThere(process.env);

describeWithDocker("with containers", () =>
  programOnServers("the program on the servers that compose.yaml runs", openDockerServers),
);
