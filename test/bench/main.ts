import { runCommand } from "../support/program/run-as-program.js";
import { benchCommand } from "./bench-command.js";

await runCommand(benchCommand());
