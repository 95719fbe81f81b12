import { describe } from "vitest";
import { isDockerThere } from "../../../deploy/broker/docker-broker.js";

const REASON = "It needs Docker, and no daemon answers: install Docker, or start it";

/** A suite for containers. Without Docker it is reported as skipped; also in CI, which may be a container itself. */
export function describeWithDocker(name: string, suite: () => void): void {
  if (isThere) return void describe(name, suite);
  process.stderr.write(`\nSKIPPED: ${name}. ${REASON}.\n\n`);
  describe.skip(`${name} (${REASON})`, suite);
}

const isThere = await isDockerThere(process.env);
