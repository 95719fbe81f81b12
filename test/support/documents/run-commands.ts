import { spawn } from "node:child_process";
import { mkdtemp, readFile, readdir, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import type { Command } from "./pages.js";

export interface Outcome {
  /** Everything that the block printed on standard output. */
  output: string;
  errors: string;
  /** Commands in it that failed, outside of conditions. */
  failed: string[];
}

/** Separates the outputs of blocks. */
const MARK = "\u001e";

/**
 * Pastes the blocks of each page into a new bash, in a copy of the repository made of links, so that files which they
 * write go with it. What the first page exports is there for all, as in the shell of a reader who began with it; other
 * variables and functions end with their page. A block that did not begin has no outcome.
 */
export async function runCommands(
  blocks: readonly Command[],
  { env, timeoutMs }: { env: Record<string, string>; timeoutMs: number },
): Promise<(Outcome | undefined)[]> {
  const dir = await mkdtemp(join(tmpdir(), "toolchain-documents-"));
  try {
    await linkRepository(dir);
    const script = join(dir, ".blocks.sh");
    const pages = [...new Set(blocks.map(({ page }) => page))];
    for (const [index, page] of pages.entries())
      await writeFile(join(dir, pageScript(index)), scriptOf(blocks, page));
    await writeFile(script, pages.map((_, index) => startPage(index)).join("\n"));
    const { output, errors } = await runBash(script, { cwd: dir, env, timeoutMs });
    const failures = (await readFile(join(dir, FAILURES), "utf8")).split("\n");
    return blocks.map((_, index) => {
      const printed = sectionOf(output, index);
      if (printed === undefined) return undefined;
      const failed = failures.flatMap((line) =>
        line.startsWith(`${index}\t`) ? [line.split("\t")[1] ?? ""] : [],
      );
      return { output: printed, errors: sectionOf(errors, index) ?? "", failed };
    });
  } finally {
    await rm(dir, { recursive: true, force: true });
  }
}

async function linkRepository(dir: string): Promise<void> {
  for (const name of await readdir("."))
    if (name !== "data" && name !== ".git") await symlink(resolve(name), join(dir, name));
}

const FAILURES = ".failures";

const pageScript = (index: number) => `.page-${index}.sh`;

/** The first page runs in the shell that starts the others. */
function startPage(index: number): string {
  return index === 0 ? `. ./${pageScript(0)}\ntrap - ERR` : `bash ${pageScript(index)}`;
}

/** Aliases, traps and options aside, bash gets the blocks as a reader pastes them. */
function scriptOf(blocks: readonly Command[], page: string): string {
  const announce = (index: number) =>
    `BLOCK=${index}; printf '${MARK}%s${MARK}' $BLOCK; printf '${MARK}%s${MARK}' $BLOCK >&2\n`;
  const trap = `exec 9>>${FAILURES}; set -E; trap 'printf "%s\\t%s\\n" "$BLOCK" "$BASH_COMMAND" | head -n 1 >&9' ERR\n`;
  const ofPage = blocks.flatMap((block, index) =>
    block.page === page ? [announce(index) + block.text] : [],
  );
  return trap + ofPage.join("\n");
}

function sectionOf(text: string, index: number): string | undefined {
  return text.split(`${MARK}${index}${MARK}`)[1]?.split(MARK)[0];
}

interface BashOptions {
  cwd: string;
  env: Record<string, string>;
  timeoutMs: number;
}

function runBash(script: string, { cwd, env, timeoutMs }: BashOptions) {
  return new Promise<{ output: string; errors: string }>((done, fail) => {
    const child = spawn("bash", [script], {
      cwd,
      env: { ...process.env, ...env },
      stdio: ["ignore", "pipe", "pipe"],
      detached: true,
    });
    const parts = { output: "", errors: "" };
    child.stdout.setEncoding("utf8").on("data", (text: string) => (parts.output += text));
    child.stderr.setEncoding("utf8").on("data", (text: string) => (parts.errors += text));
    const deadline = setTimeout(() => process.kill(-(child.pid ?? 0), "SIGKILL"), timeoutMs);
    child.on("error", fail).on("close", () => {
      clearTimeout(deadline);
      done(parts);
    });
  });
}
