import { isDockerThere } from "../broker/docker-broker.js";
import { describeOrSkip } from "../support/describe-or-skip.js";

const missing = (await isDockerThere(process.env))
  ? undefined
  : "It needs Docker, and no daemon answers: install Docker, or start it.";

/** A suite for containers: one of `npm run test:docker`, skipped without Docker. */
export function describeWithDocker(name: string, suite: () => void): void {
  describeOrSkip(name, { missing }, suite);
}
