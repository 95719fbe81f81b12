import { isDockerThere } from "../../broker/docker-broker.js";
import { describeOrSkip } from "../describe-or-skip.js";

const REASON = "It needs Docker, and no daemon answers: install Docker, or start it.";

/** A suite for containers. Without Docker it is skipped; also in CI, which may be a container itself. */
export function describeWithDocker(name: string, suite: () => void): void {
  describeOrSkip(name, { missing: isThere ? undefined : REASON }, suite);
}

const isThere = await isDockerThere(process.env);
