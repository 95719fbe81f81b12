import { spawnSync } from "node:child_process";
import { isDockerThere } from "../broker/docker-broker.js";
import { describeOrSkip } from "../support/describe-or-skip.js";

const isThere = await isDockerThere(process.env);

/** A suite for containers: one of `npm run test:docker`, skipped without Docker, and without an image that it needs. */
export function describeWithDocker(name: string, suite: () => void, images: readonly string[] = []): void {
  describeOrSkip(name, { missing: missing(images) }, suite);
}

function missing(images: readonly string[]): string | undefined {
  if (!isThere) return "It needs Docker, and no daemon answers: install Docker, or start it.";
  const absent = images.find((image) => spawnSync("docker", ["image", "inspect", image]).status !== 0);
  return absent === undefined ? undefined : `It needs the image ${absent}: pull it from a registry.`;
}
