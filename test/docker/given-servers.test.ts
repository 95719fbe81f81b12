import { openDockerServers } from "../support/stores/database-servers.js";
import { describeWithDocker } from "../support/stores/describe-with-docker.js";
import { programOnServers } from "../support/program/program-on-servers.js";

describeWithDocker("with containers", () =>
  programOnServers("the program on the servers that compose.yaml runs", openDockerServers),
);
