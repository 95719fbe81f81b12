import { expect, test } from "vitest";
import { BENCHMARKS } from "../../bench/benchmarks.js";
import { benchCommand } from "../../bench/bench-command.js";

const run = (...args: string[]) =>
  benchCommand()
    .exitOverride()
    .configureOutput({ writeOut: () => undefined, writeErr: () => undefined })
    .parseAsync(args, { from: "user" });

test("refuses an unknown benchmark, naming the known ones", async () => {
  const names = BENCHMARKS.map(({ name }) => name).join(", ");
  expect(names).toContain("import, growth, small, fair, memory, csv, management");
  await expect(run("imprt")).rejects.toThrow(`There is no benchmark imprt: choose from ${names}.`);
});

test.each(["0", "-1", "1e6", "many", "1.5"])("refuses %s events", async (events) => {
  await expect(run(`--events=${events}`)).rejects.toThrow("It must be a whole number above 0.");
});

test.each([
  ["--rate=5001", "It may be 5000 at most."],
  ["--seconds=601", "It may be 600 at most."],
  ["--seconds=0", "It must be a whole number above 0."],
  ["--overrides=10,110", "It must be percentages separated by commas, such as 0,10,100."],
  ["--packages=1,0", "It must be a whole number above 0."],
  ["--bytes=2GB", "It must be a size in bytes, or such as 512MiB."],
])("refuses %s", async (option, sentence) => {
  await expect(run(option)).rejects.toThrow(sentence);
});

test("refuses an unknown event log, naming the known ones", async () => {
  await expect(run("--log=kafak")).rejects.toThrow("Allowed choices are embedded, kafka.");
});

test("lists every benchmark with what it measures", async () => {
  const written: string[] = [];
  const command = benchCommand().exitOverride();
  command.configureOutput({ writeOut: (text) => void written.push(text) });
  await expect(command.parseAsync(["--help"], { from: "user" })).rejects.toThrow();
  const help = written.join("");
  for (const { name, summary } of BENCHMARKS) expect(help).toContain(`  ${name.padEnd(12)}${summary}`);
});
