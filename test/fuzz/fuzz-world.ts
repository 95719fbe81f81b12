import { setTimeout as after } from "node:timers/promises";
import type { ApiClient } from "../../deploy/demo/api-client.js";
import type { WaitingLetter } from "../../api/imports/dead-letters.js";
import { makeExporter } from "../support/imports/import-world.js";
import type { Program } from "../support/program/program.js";

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
