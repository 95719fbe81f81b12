import { spawn } from "node:child_process";
import { once } from "node:events";
import { expect, test } from "vitest";

const LIFECYCLE = new URL("../../../../dist/deploy/process/lifecycle.js", import.meta.url).href;

/** A process that runs `code` with the functions of lifecycle, and what it has printed. */
function startProgram(code: string) {
  const source = `const { stopSignal, onReloadSignal, startDeadline } = await import(${JSON.stringify(LIFECYCLE)});
    const alive = setInterval(() => {}, 1_000); ${code}`;
  const program = spawn(process.execPath, ["--input-type=module", "--eval", source], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  let printed = "";
  program.stdout.on("data", (data: Buffer) => (printed += data.toString()));
  const says = (text: string) => expect.poll(() => printed).toContain(text);
  return { program, says, ended: once(program, "close") as Promise<[number | null, NodeJS.Signals | null]> };
}

test("the first stop signal lets the program end by itself", async () => {
  const { program, says, ended } = startProgram(
    `const stop = stopSignal(); console.log("up"); console.log(await stop); clearInterval(alive);`,
  );
  await says("up");
  program.kill("SIGTERM");
  await says("SIGTERM");
  expect(await ended).toEqual([0, null]);
});

test.each([
  ["SIGINT", 130],
  ["SIGTERM", 143],
] as const)("a second %s ends it at once with status %i", async (signal, status) => {
  const { program, says, ended } = startProgram(`stopSignal().then(console.log); console.log("up");`);
  await says("up");
  program.kill("SIGTERM");
  await says("SIGTERM");
  program.kill(signal);
  expect(await ended).toEqual([status, null]);
});

test("a drain that misses its deadline ends with status 1, one that keeps it with its own", async () => {
  const missed = startProgram(`startDeadline({ timeoutMs: 50 });`);
  expect(await missed.ended).toEqual([1, null]);
  const kept = startProgram(
    `const deadline = startDeadline({ timeoutMs: 200 }); deadline[Symbol.dispose](); setTimeout(() => process.exit(0), 400);`,
  );
  expect(await kept.ended).toEqual([0, null]);
});

test("SIGHUP reloads each time, and a reload that fails is heard of and ends nothing", async () => {
  const { program, says, ended } = startProgram(
    `let times = 0;
     onReloadSignal(async () => { console.log("reload", ++times); throw new Error("bad file"); }, (e) => console.log(e.message, times));
     stopSignal().then(() => process.exit(0)); console.log("up");`,
  );
  await says("up");
  program.kill("SIGHUP");
  await says("bad file 1");
  program.kill("SIGHUP");
  await says("bad file 2");
  program.kill("SIGTERM");
  expect(await ended).toEqual([0, null]);
});
