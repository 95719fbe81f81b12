import { spawnSync } from "node:child_process";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { closedPort } from "../../support/api/receivers.js";
import { commandsOf, missingLines, PAGES } from "../../support/documents/pages.js";
import { runCommands, type Outcome } from "../../support/documents/run-commands.js";
import { startToolchain, type Toolchain } from "../../support/program/start-toolchain.js";

const isThere = (tool = "bash") => spawnSync("sh", ["-c", `command -v ${tool}`]).status === 0;

const commands = PAGES.flatMap((page) => commandsOf(page));
const runnable = commands.filter(({ needs }) => isThere(needs));
const RUN_MS_MAX = 540_000;

let toolchain: Toolchain;
let outcomes: (Outcome | undefined)[];

beforeAll(async () => {
  const env = { WEBHOOK_ALLOW_PRIVATE_NETWORKS: "true" };
  // The README names a company that the few networks of other tests do not have.
  toolchain = await startToolchain({ env, prepared: ["databases"] });
  const { api = "", collect = "", metrics = "" } = toolchain.endpoints;
  const variables = {
    ...env,
    DATA_DIR: toolchain.dataDir,
    MAINTAINER_URL: api,
    COLLECT_URL: collect,
    METRICS_URL: metrics,
    RECEIVER_PORT: String(await closedPort()),
  };
  outcomes = await runCommands(runnable, { env: variables, timeoutMs: RUN_MS_MAX });
}, RUN_MS_MAX + 60_000);

afterAll(() => toolchain?.close());

describe.each([...new Set(commands.map(({ page }) => page))])("the commands of %s", (page) => {
  const ofPage = commands.filter((command) => command.page === page);

  for (const command of ofPage)
    test.skipIf(!runnable.includes(command))(`work as pasted, in line ${command.line}`, () => {
      const outcome = outcomes[runnable.indexOf(command)];
      expect(outcome?.failed, outcome?.errors).toEqual([]);
      expect(outcome?.errors).not.toContain("curl: (");
      expect(missingLines(command.shown, outcome?.output ?? ""), outcome?.output).toEqual([]);
    });
});
