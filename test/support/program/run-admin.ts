import { adminCommand } from "../../../deploy/commands/admin.js";
import { StartFailure } from "../../../deploy/process/start-failure.js";

/**
 * `npm run admin -- <args>` beside a running program: what it prints, trimmed. In this process: the command is over before
 * another process would have loaded its modules.
 */
export async function runAdmin(args: readonly string[], env: NodeJS.ProcessEnv): Promise<string> {
  const out: string[] = [];
  const failures: string[] = [];
  const command = adminCommand({
    env,
    print: (line) => out.push(line),
    note: () => undefined,
    fail: (sentence) => failures.push(sentence),
  });
  await command.parseAsync(args, { from: "user" });
  if (failures.length > 0) throw new StartFailure(`admin ${args.join(" ")}: ${failures.join("\n")}`);
  return out.join("\n").trim();
}
