import { expect, test } from "vitest";
import { adminCommandFor } from "../../../../deploy/process/admin-command.js";

const DATA_DIR = "/var/lib/maintainer-toolchain";

test.each([
  ["a clone", { npm_lifecycle_event: "start", HOSTNAME: "3f2a9c01be77" }, "npm run admin --"],
  ["an installed program", { HOSTNAME: "server-1" }, "maintainer-toolchain admin"],
  ["Docker", { HOSTNAME: "3f2a9c01be77" }, "docker exec 3f2a9c01be77 maintainer-toolchain admin"],
  [
    "Kubernetes",
    { KUBERNETES_SERVICE_HOST: "10.0.0.1", HOSTNAME: "toolchain-api-0" },
    "kubectl exec toolchain-api-0 -- maintainer-toolchain admin",
  ],
  [
    "systemd",
    { SYSTEMD_EXEC_PID: "41", USER: "maintainer" },
    `runuser -u maintainer -- env DATA_DIR=${DATA_DIR} maintainer-toolchain admin`,
  ],
  ["a terminal that systemd started", { SYSTEMD_EXEC_PID: "40" }, "maintainer-toolchain admin"],
])("prints the command of %s", (_, env, command) => {
  expect(adminCommandFor(env, { dataDir: DATA_DIR, pid: 41 })).toBe(command);
});
