import { runCommand } from "../support/program/run-as-program.js";
import { kafkaCommand } from "./kafka-command.js";

await runCommand(kafkaCommand());
