import { inject } from "vitest";
import type { Endpoints } from "../../../deploy/process/data-dir.js";
import { checkAnswersOf } from "../api/check-answers-of.js";
import { type Program, programOf } from "./program.js";

/**
 * A program with default settings that other files use at the same time: with accounts, organizations and hosts whose
 * names they do not have, and assertions about these alone. It cannot be killed or stopped.
 */
export async function sharedProgram(): Promise<Program> {
  const answer = await fetch(inject("sharedProgram"));
  if (!answer.ok) throw new Error(await answer.text());
  const { dataDir, endpoints } = (await answer.json()) as { dataDir: string; endpoints: Endpoints };
  await checkAnswersOf(endpoints.api ?? "");
  return programOf({ dataDir, env: { DATA_DIR: dataDir }, endpoints: () => endpoints });
}
