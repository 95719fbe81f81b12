import { openDockerServers } from "../support/stores/database-servers.js";
import { programOnServers } from "../support/program/program-on-servers.js";
import { describeWithDocker } from "./describe-with-docker.js";

describeWithDocker("with containers", () =>
  programOnServers("the program on the servers that compose.yaml runs", openDockerServers),
);
