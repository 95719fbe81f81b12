import { setTimeout as after } from "node:timers/promises";
import type { ApiClient } from "../../deploy/demo/api-client.js";
import type { WaitingLetter } from "../../api/features/imports/dead-letters.js";
import { makeExporter } from "../support/imports/import-world.js";
import type { Program } from "../support/program/program.js";
import fc from "fast-check";

/** A program that runs, and what was sent to it. */
export interface FuzzWorld {
  readonly program: Program;
  /** Of all names here: a program may have other users. */
  readonly prefix: string;
  readonly sent: { lines: number; requests: number };
  /** An organization that may export, and the account that owns it. */
  newOwner(): Promise<FuzzOwner>;
}

export interface FuzzOwner {
  name: string;
  api: ApiClient;
}

export function openFuzzWorld(program: Program, { prefix }: { prefix: string }): FuzzWorld {
  let owners = 0;
  return {
    program,
    prefix,
    sent: { lines: 0, requests: 0 },
    async newOwner() {
      owners += 1;
      const name = `${prefix}-${owners}`;
      return { name, api: await makeExporter(program, name, `${name}-ada`) };
    },
  };
}

/** Throws unless the program answers on its ports, its stores are ready, and no chunk became a dead letter. */
export async function assertHealthy({ program, prefix }: FuzzWorld): Promise<void> {
  for (const url of [program.endpoints.api, program.endpoints.collect])
    for (const path of ["healthz", "readyz"]) await assertOk(`${url}/${path}`);
  const listed = await program.admin("dead-letters", "list", "--json");
  const letters = listed.split("\n").filter(Boolean);
  const ours = letters.filter((text) => (JSON.parse(text) as WaitingLetter).owner?.startsWith(prefix));
  if (ours.length > 0) throw new Error(`there are dead letters: ${ours.join("\n")}`);
}

const TRIES = 20;

/** A store may be asked just while it is busy. */
async function assertOk(url: string): Promise<void> {
  let said = "";
  for (let tried = 0; tried < TRIES; tried += 1) {
    const answer = await fetch(url);
    said = `${answer.status} ${await answer.text()}`;
    if (answer.ok) return;
    await after(250);
  }
  throw new Error(`${url} is answered ${said}`);
}

/** One kind of input, and what must hold of each. */
export interface FuzzTarget<Input = unknown> {
  name: string;
  /** How many inputs a round tries. */
  runs: number;
  /** What the inputs of a round share; its own `close` checks what all of them left behind. */
  open(world: FuzzWorld, owner: FuzzOwner): Promise<FuzzRound<Input>>;
}

interface FuzzRound<Input> {
  inputs: fc.Arbitrary<Input>;
  /** Throws where a promise is broken. */
  attempt(input: Input): Promise<void>;
  /** Throws where the inputs together broke one. */
  close(): Promise<void>;
}

const SHRINK_MS_MAX = 120_000;

/** @returns the shrunk input that failed, with its seed; nothing where every promise was kept */
export async function fuzzRound<Input>(
  world: FuzzWorld,
  target: FuzzTarget<Input>,
  { seed, runs = target.runs }: { seed: number; runs?: number },
): Promise<string | undefined> {
  const round = await target.open(world, await world.newOwner());
  const details = await fc.check(
    fc.asyncProperty(round.inputs, (input) => round.attempt(input)),
    { seed, numRuns: runs, interruptAfterTimeLimit: SHRINK_MS_MAX },
  );
  if (details.failed)
    return `${target.name}, seed ${seed}: ${fc.defaultReportMessage(details)}\n${String(details.errorInstance)}`;
  const broken = await round.close().then(
    () => undefined,
    (error: unknown) => error as Error,
  );
  return broken && `${target.name}, seed ${seed}, all inputs together: ${broken.stack}`;
}
