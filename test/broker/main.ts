import { runAsProgram } from "../../deploy/process/run-as-program.js";
import { kafkaCommand } from "./kafka-command.js";

await runAsProgram(() => kafkaCommand().parseAsync());
