import { isDockerThere } from "../broker/docker-broker.js";
import { describeOrSkip } from "../support/describe-or-skip.js";

const BY_HAND = "It takes minutes: run `npm run test:docker`.";
const NO_DAEMON = "It needs Docker, and no daemon answers: install Docker, or start it.";

const isAsked = process.env["TEST_DOCKER"] === "true";
const missing = isAsked ? ((await isDockerThere(process.env)) ? undefined : NO_DAEMON) : BY_HAND;

/** A suite for containers, run when asked for by `npm run test:docker`. Otherwise it is skipped, also in CI. */
export function describeWithDocker(name: string, suite: () => void): void {
  describeOrSkip(name, { missing }, suite);
}
