import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { eventsBefore } from "../../../support/collect/collect-cases.js";
import { useCollectWorld, world } from "../../../support/collect/collect-world.js";
import { IMAGE_CLIENTS, missingClient } from "../../../support/collect/image-clients.js";
import {
  startRegistry,
  type ImageRegistry,
  type RegistryImage,
} from "../../../support/collect/image-registry.js";
import { newDockerPackage } from "../../../support/collect/registry-packages.js";
import { LOOKING_CLIENTS, REPLAYED_CLIENTS, ReplayedPull } from "../../../support/collect/replay-pulls.js";
import { describeOrSkip } from "../../../support/describe-or-skip.js";
import { runCommand } from "../../../support/program/run-command.js";
import { useFolder } from "../../../support/use-folder.js";

/** No client asks another host than those of this machine. */
const NO_PROXY = { NO_PROXY: "*", no_proxy: "*" };

let registry: ImageRegistry;

beforeAll(async () => void (registry = await startRegistry()));
afterAll(() => registry?.[Symbol.asyncDispose]());
useCollectWorld({ env: { COLLECT_ALLOW_PRIVATE_UPSTREAMS: "true" } });

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
async function eventsOf(packageId: string, name: string, count = 1) {
  const marker = { path: `/v2/${name}/manifests/marker`, host: authority() };
  const events = await eventsBefore(world, { id: packageId, count, marker });
  return events.map(({ type, version, client }) => ({ type, version, client }));
}

for (const client of IMAGE_CLIENTS) {
  describeOrSkip(`${client.name} pulls`, { missing: missingClient(client) }, () => {
    const folder = useFolder(client.name);
    let daemon: AsyncDisposable | undefined;
    beforeAll(async () => void (daemon = await client.start?.(folder)));
    afterAll(() => daemon?.[Symbol.asyncDispose]());

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

const RESOLVING_CLIENTS = REPLAYED_CLIENTS.filter(({ followsWithCredentials }) => followsWithCredentials);

test.each(RESOLVING_CLIENTS)(
  "tags that $name only resolves, as for kubelet, are no pulls",
  async (client) => {
    const name = `acme/resolved-${client.name}`;
    const packageId = await newImage(name);
    const call: ConstructorParameters<typeof ReplayedPull>[0]["call"] = (asked) =>
      world.call({ ...asked, host: authority() });
    for (const tag of ["1.2.0", "single"]) {
      const look = new ReplayedPull({ client, name, call });
      await look.logIn("HEAD", look.pathOf(tag));
      await look.manifest("HEAD", tag);
    }
    await client.pull(new ReplayedPull({ client, name, call }), "1.4.0");
    expect((await eventsOf(packageId, name)).map(({ version }) => version)).toEqual(["1.4.0"]);
  },
);

describeOrSkip("two machines with containerd behind one address", { missing: missingContainerd() }, () => {
  const folders = [useFolder("containerd-a"), useFolder("containerd-b")] as const;
  const [containerd] = IMAGE_CLIENTS.filter(isContainerd);
  const daemons: (AsyncDisposable | undefined)[] = [];
  beforeAll(async () => {
    for (const folder of folders) daemons.push(await containerd?.start?.(folder));
  });
  afterAll(async () => {
    for (const daemon of daemons) await daemon?.[Symbol.asyncDispose]();
  });

  test("count what they pull, and no tag whose digest one of them has", async () => {
    const name = "acme/two-machines";
    const packageId = await newImage(name);
    const pull = async (folder: string, id: string) => {
      const reference = `${authority()}/${name}:${id}`;
      const [program = "", ...args] = containerd?.pull({ reference, folder, id }) ?? [];
      await runCommand(program, args, { env: NO_PROXY });
    };
    await pull(folders[0], "1.4.0");
    // All tags but `single` have one digest, so this machine resolves the tag and asks for nothing else.
    await pull(folders[0], "1.5.0");
    await pull(folders[1], "single");
    expect((await eventsOf(packageId, name, 2)).map(({ version }) => version)).toEqual(["1.4.0", "single"]);
  });
});

function isContainerd({ name }: { name: string }): boolean {
  return name === "containerd";
}

function missingContainerd(): string | undefined {
  return IMAGE_CLIENTS.filter(isContainerd).map(missingClient)[0];
}

test.each(LOOKING_CLIENTS)("a client that looks as $name does makes no event", async (client) => {
  const name = `acme/looked-${client.name.toLowerCase()}`;
  const packageId = await newImage(name);
  const call: ConstructorParameters<typeof ReplayedPull>[0]["call"] = (asked) =>
    world.call({ ...asked, host: authority() });
  const pull = new ReplayedPull({ client: { ...client, followsWithCredentials: false }, name, call });
  await pull.logIn("GET", "/v2/");
  await client.look(pull, "1.4.0");
  await pull.manifest("GET", "1.4.0");
  // The pull that follows is the only one.
  expect((await eventsOf(packageId, name)).map(({ version }) => version)).toEqual(["1.4.0"]);
});
