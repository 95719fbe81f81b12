import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { eventsBefore } from "../../../support/collect/collect-cases.js";
import { openCollectWorld, type CollectWorld } from "../../../support/collect/collect-world.js";
import { IMAGE_CLIENTS, missingClient } from "../../../support/collect/image-clients.js";
import {
  startRegistry,
  type ImageRegistry,
  type RegistryImage,
} from "../../../support/collect/image-registry.js";
import { newDockerPackage } from "../../../support/collect/registry-packages.js";
import { REPLAYED_CLIENTS, ReplayedPull } from "../../../support/collect/replay-pulls.js";
import { describeOrSkip } from "../../../support/describe-or-skip.js";
import { runCommand } from "../../../support/program/run-command.js";

/** No client asks another host than those of this machine. */
const NO_PROXY = { NO_PROXY: "*", no_proxy: "*" };

let world: CollectWorld;
let registry: ImageRegistry;

beforeAll(async () => {
  registry = await startRegistry();
  world = await openCollectWorld({ env: { COLLECT_ALLOW_PRIVATE_UPSTREAMS: "true" } });
});
afterAll(async () => {
  await world?.[Symbol.asyncDispose]();
  await registry?.[Symbol.asyncDispose]();
});

/** An image can be pulled once a case, because daemons keep what they have. */
const CASES: [title: string, id: string, reference: (image: RegistryImage) => string, version: string][] = [
  ["a tag for several platforms", "tag", () => "1.4.0", "1.4.0"],
  ["a tag for one platform", "single", () => "single", "single"],
  ["a digest for several platforms", "index", ({ index }) => index.digest, ""],
  ["a digest for one platform", "manifest", ({ manifest }) => manifest.digest, ""],
];

/** The authority of the collector, whose address is also the host of the packages. */
function authority(): string {
  return new URL(world.toolchain.endpoints.collect ?? "").host;
}

async function newImage(name: string): Promise<string> {
  const urls = { backendUrl: `${registry.url}/${name}`, publicUrl: `http://${authority()}/${name}` };
  return newDockerPackage(world, urls);
}

/** All events of an image after its pull. */
async function eventsOf(packageId: string, name: string) {
  const marker = { path: `/v2/${name}/manifests/marker`, host: authority() };
  const events = await eventsBefore(world, { id: packageId, count: 1, marker });
  return events.map(({ type, version, client }) => ({ type, version, client }));
}

for (const client of IMAGE_CLIENTS) {
  describeOrSkip(`${client.name} pulls`, { missing: missingClient(client) }, () => {
    let folder: string;
    let daemon: AsyncDisposable | undefined;
    beforeAll(async () => {
      folder = await mkdtemp(join(tmpdir(), `${client.name}-`));
      daemon = await client.start?.(folder);
    });
    afterAll(async () => {
      await daemon?.[Symbol.asyncDispose]();
      await rm(folder, { recursive: true, force: true });
    });

    test.each(CASES)("%s, as one event", async (_, id, referenceOf, version) => {
      const name = `acme/${client.name}-${id}`;
      const packageId = await newImage(name);
      const wanted = referenceOf(registry.image(name));
      const reference = `${authority()}/${name}${wanted.includes(":") ? "@" : ":"}${wanted}`;
      const [program, ...args] = client.pull({ reference, folder, id });
      await runCommand(program, args, { env: NO_PROXY });
      expect(await eventsOf(packageId, name)).toEqual([
        { type: "image-pull", version, client: client.client },
      ]);
    });
  });
}

describe.each(REPLAYED_CLIENTS)("a client that asks as $name does pulls", (client) => {
  test.each(CASES)("%s, as one event", async (_, id, referenceOf, version) => {
    const name = `acme/replayed-${client.name}-${id}`;
    const packageId = await newImage(name);
    const call: ConstructorParameters<typeof ReplayedPull>[0]["call"] = (asked) =>
      world.call({ ...asked, host: authority() });
    await client.pull(new ReplayedPull({ client, name, call }), referenceOf(registry.image(name)));
    expect(await eventsOf(packageId, name)).toEqual([{ type: "image-pull", version, client: client.name }]);
  });
});
