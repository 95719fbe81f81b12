import { runAsProgram } from "../../deploy/process/run-as-program.js";
import { benchCommand } from "./bench-command.js";

await runAsProgram(() => benchCommand().parseAsync());
