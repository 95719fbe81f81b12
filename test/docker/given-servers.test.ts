import { openDockerServers } from "../support/database-servers.js";
import { describeWithDocker } from "../support/describe-with-docker.js";
import { programOnServers } from "../support/program-on-servers.js";

describeWithDocker("with containers", () =>
  programOnServers("the program on the servers that compose.yaml runs", openDockerServers),
);
