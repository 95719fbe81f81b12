import { Command } from "commander";
import { once } from "node:events";
import { createInterface } from "node:readline/promises";
import { Writable } from "node:stream";
import { text } from "node:stream/consumers";
import type { UserV1 } from "../../schemas/contracts/user.js";
import { readJson } from "../import/call-api.js";
import { forgetSignIn, keepSignIn, readSignIn, signInPath } from "../import/kept-sign-in.js";
import { printRecord } from "../import/print-record.js";
import { type ServiceOptions, addServiceOptions, urlOf } from "../import/service-options.js";
import { StartFailure } from "../process/start-failure.js";

/** `login`: tries a token, and keeps it in a file that only this user can read. */
export function loginCommand(): Command {
  return addServiceOptions(new Command("login"), HELP).action(login);
}

const HELP = `
Without --token and MAINTAINER_TOKEN, the command asks for the token, or reads it from standard input
if that is not a terminal.

Example:
  maintainer-toolchain login --url https://stats.example.org
`;

export function logoutCommand(): Command {
  return new Command("logout")
    .option("--json", "print JSON, one object per line")
    .addHelpText("after", LOGOUT_HELP)
    .action(logout);
}

const LOGOUT_HELP = `
Logging out does not revoke the token. You can revoke it on the Account page.
`;

async function login(options: ServiceOptions): Promise<void> {
  const url = urlOf(options, readSignIn());
  const token = options.token || (await askForToken(url));
  const { username } = await readJson<UserV1>({ url, token }, "/v1/user");
  keepSignIn({ url, token });
  const record = { url, username, file: signInPath() };
  printRecord(
    record,
    options.json,
    ({ file }) => `Signed in to ${url} as ${username}. The token is in ${file}.`,
  );
}

function logout({ json }: { json?: true }): void {
  const record = { file: signInPath(), removed: forgetSignIn() };
  printRecord(record, json, ({ file, removed }) => (removed ? `Removed ${file}.` : "No saved token."));
}

async function askForToken(url: string): Promise<string> {
  const token = (process.stdin.isTTY ? await typed(url) : await text(process.stdin)).trim();
  if (token === "" || /\s/.test(token))
    throw new StartFailure("Standard input must contain a token and nothing else.");
  return token;
}

/** What is typed is not shown. */
async function typed(url: string): Promise<string> {
  process.stderr.write(`API token for ${url} (from the Account page): `);
  const hidden = new Writable({ write: (_part, _encoding, done) => done() });
  const lines = createInterface({ input: process.stdin, output: hidden, terminal: true });
  // Ctrl-C and Ctrl-D close it, and the question stays unanswered.
  const closed = once(lines, "close").then(() => "");
  try {
    return await Promise.race([lines.question(""), closed]);
  } finally {
    lines.close();
    process.stderr.write("\n");
  }
}
