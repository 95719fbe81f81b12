import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect, test } from "vitest";
import { blocksOf } from "../support/documents/pages.js";
import { type ImportTarget, makeTarget } from "../support/imports/import-target.js";
import { makeExporter } from "../support/imports/import-world.js";
import { makeAccount } from "../support/program/program.js";
import { describeWithDocker } from "./describe-with-docker.js";

const NAME = "toolchain-test-embedded";
const ADDRESS = `127.8.${process.pid % 250}.200`;

/** The block of the page, with a name, a volume and an address of this test's own. */
const block = blocksOf("deploy/docs/operate/compose.md").find(({ notRun = "" }) =>
  notRun.includes("embedded.test.ts"),
);
const COMMANDS = (block?.text ?? "exit 1")
  .replaceAll("127.0.0.1", ADDRESS)
  .replace("--name maintainer-toolchain ", `--name ${NAME} `)
  .replace("maintainer-toolchain:/data", `${NAME}:/data`)
  .replace("exec maintainer-toolchain ", `exec ${NAME} `);

async function bash(script: string): Promise<string> {
  const { stdout } = await promisify(execFile)("bash", ["-euo", "pipefail", "-c", script]);
  return stdout.trim();
}

describeWithDocker("one container of the image with embedded stores", () => {
  const api = `http://${ADDRESS}:8080`;
  const admin = (...args: string[]) =>
    bash(`docker exec ${NAME} maintainer-toolchain admin ${args.join(" ")}`);
  let target: ImportTarget;

  beforeAll(async () => {
    // The first account takes a service that has started.
    await bash(
      COMMANDS.replace(/^docker exec/m, `until curl -sf ${api}/readyz; do sleep 1; done; docker exec`),
    );
  });

  afterAll(() => bash(`docker rm --force --volumes ${NAME}; docker volume rm ${NAME}`));

  test("keeps every line on its volume, killed in the middle of an import and made anew", async () => {
    const newAccount = (username: string) => makeAccount({ admin, api }, username);
    const client = await makeExporter({ admin, newAccount }, "acme", "bob");
    target = await makeTarget(client, { organization: "acme", libraryType: "docker", prepared: [] });
    const body = target.bodyOf({ count: 40_000 });
    const started = await client.importBody(target.path, body, { gzip: true });
    await bash(`docker kill ${NAME}; docker start ${NAME}`);
    await expect
      .poll(() =>
        fetch(`${api}/readyz`).then(
          ({ ok }) => ok,
          () => false,
        ),
      )
      .toBe(true);
    expect(await client.pollToDone(started)).toMatchObject({ status: "done", events_total: 40_000 });
    await target.expectExports(client, body);
  });
});
