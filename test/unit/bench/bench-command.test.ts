import { expect, test } from "vitest";
import { BENCHMARKS } from "../../bench/benchmarks.js";
import { benchCommand } from "../../bench/bench-command.js";

test.each([
  ["imprt", `There is no benchmark imprt: choose from ${BENCHMARKS.map(({ name }) => name).join(", ")}.`],
  ["--events=1e6", "It must be a whole number greater than 0."],
  ["--rate=5001", "It may be 5000 at most."],
  ["--overrides=10,110", "It must be percentages separated by commas, such as 0,10,100."],
  ["--packages=1,0", "It must be a whole number greater than 0."],
  ["--bytes=2GB", "It must be a size in bytes, or such as 512MiB."],
])("refuses %s", async (argument, sentence) => {
  const command = benchCommand()
    .exitOverride()
    .configureOutput({ writeErr: () => undefined });
  await expect(command.parseAsync([argument], { from: "user" })).rejects.toThrow(sentence);
});
