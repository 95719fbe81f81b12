import { spawn, spawnSync, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { vi } from "vitest";
import { runCommand } from "../program/run-command.js";

/** A program that pulls images, and the daemon behind it. */
export interface ImageClient {
  name: string;
  /** Prints its version where it is installed. */
  probe: readonly [program: string, ...args: string[]];
  /** Where it comes from. */
  install: string;
  /** As the collector names it in events. */
  client: string;
  /** Resolves when it takes commands; disposing of it ends it. */
  start?: (folder: string) => Promise<AsyncDisposable>;
  /** Its command that pulls for linux/amd64 over plain HTTP; `id` is new for each pull. */
  pull: (pulled: { reference: string; folder: string; id: string }) => readonly [string, ...string[]];
}

const START_MS_MAX = 120_000;

export const IMAGE_CLIENTS: readonly ImageClient[] = [
  {
    name: "crane",
    probe: ["crane", "version"],
    install: "go install github.com/google/go-containerregistry/cmd/crane@latest",
    client: "crane",
    pull: ({ reference, folder, id }) =>
      words(`crane pull --insecure --platform=linux/amd64 ${reference} ${folder}/${id}.tar`),
  },
  {
    name: "skopeo",
    probe: ["skopeo", "--version"],
    install: "apt-get install skopeo",
    client: "skopeo",
    pull: ({ reference, folder, id }) =>
      words(
        `skopeo --insecure-policy --override-arch=amd64 --override-os=linux copy --src-tls-verify=false ` +
          `docker://${reference} dir:${folder}/${id}`,
      ),
  },
  {
    name: "buildah",
    probe: ["buildah", "--version"],
    install: "apt-get install buildah",
    client: "buildah",
    start: async (folder) => {
      await writeFile(join(folder, "policy.json"), '{"default": [{"type": "insecureAcceptAnything"}]}');
      return { [Symbol.asyncDispose]: async () => undefined };
    },
    pull: ({ reference, folder }) =>
      words(
        `buildah --storage-driver=vfs --root=${folder}/root --runroot=${folder}/run ` +
          `pull --arch=amd64 --tls-verify=false --signature-policy=${folder}/policy.json ${reference}`,
      ),
  },
  {
    name: "containerd",
    probe: ["containerd", "--version"],
    install: "apt-get install containerd",
    client: "containerd",
    start: (folder) =>
      startDaemon(
        words(`containerd --root=${folder}/root --state=${folder}/state --address=${folder}/socket`),
        words(`ctr --address=${folder}/socket version`),
      ),
    pull: ({ reference, folder }) =>
      words(
        `ctr --address=${folder}/socket image pull --plain-http --snapshotter=native --platform=linux/amd64 ${reference}`,
      ),
  },
  {
    name: "dockerd",
    probe: ["dockerd", "--version"],
    install: "apt-get install docker.io",
    client: "docker",
    start: (folder) =>
      startDaemon(
        words(
          `dockerd --host=unix://${folder}/socket --data-root=${folder}/root --exec-root=${folder}/exec ` +
            `--pidfile=${folder}/pid --storage-driver=vfs --bridge=none --iptables=false --ip6tables=false`,
        ),
        words(`docker --host=unix://${folder}/socket version`),
      ),
    pull: ({ reference, folder }) =>
      words(`docker --host=unix://${folder}/socket pull --platform=linux/amd64 ${reference}`),
  },
];

/** Why a client's tests cannot run here; undefined when they can. */
export function missingClient({ probe: [program, ...args], install, start, name }: ImageClient) {
  if (spawnSync(program, args).status !== 0) return `\`${program}\` does not run: ${install}.`;
  const needsRoot = start !== undefined && process.getuid?.() !== 0;
  return needsRoot ? `${name} has to be started by root.` : undefined;
}

type Command = readonly [string, ...string[]];

/** The folders of tests have no spaces. */
function words(command: string): Command {
  return command.split(" ") as unknown as Command;
}

/** Starts a daemon and waits until it takes a command. What it wrote is in the error when it does not. */
async function startDaemon(
  [program, ...args]: Command,
  [asks, ...asking]: Command,
): Promise<AsyncDisposable> {
  const daemon = spawn(program, args, { stdio: ["ignore", "pipe", "pipe"] });
  const written: string[] = [];
  for (const output of [daemon.stdout, daemon.stderr])
    output.on("data", (part: Buffer) => written.push(part.toString()));
  const isReady = async () => {
    if (daemon.exitCode !== null) throw new Error(`${program} ended`);
    await runCommand(asks, asking);
  };
  try {
    await vi.waitFor(isReady, { timeout: START_MS_MAX, interval: 100 });
  } catch (error) {
    await endDaemon(daemon);
    throw new Error(`${program} did not start: ${written.join("").slice(-2_000)}`, { cause: error });
  }
  return { [Symbol.asyncDispose]: () => endDaemon(daemon) };
}

async function endDaemon(daemon: ChildProcess): Promise<void> {
  if (daemon.exitCode !== null || daemon.signalCode !== null) return;
  const ended = once(daemon, "exit");
  daemon.kill("SIGTERM");
  await ended;
}
