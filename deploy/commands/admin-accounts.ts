import { Command, InvalidArgumentError } from "commander";
import { type Ended, createAccount, rotateToken } from "../../api/identity/accounts.js";
import { removeAccount, renameAccount, switchAccount } from "../../api/accounts/administer-accounts.js";
import { removeOrganization } from "../../api/organizations/remove-organization.js";
import { LINK_MINUTES, makeSignInLink, signInLinkUrl } from "../../api/identity/sign-in-links.js";
import { isHttpUrl } from "../../schemas/formats.js";
import { StartFailure } from "../process/start-failure.js";
import type { AdminProcess, Administer, Administered } from "./administer.js";

export function accountCommands(administer: Administer, process: Pick<AdminProcess, "note">): Command[] {
  return [
    new Command("create-account")
      .description("Create an account and print only its API token on standard output.")
      .requiredOption("--username <name>", "unique among users and organizations, ignoring case")
      .requiredOption("--email <address>")
      .action((options: { username: string; email: string }) =>
        administer(async (deps) => [await createAccount(deps, options)]),
      ),
    signInLinkCommand(administer),
    rotateCommand(administer, process),
    renameCommand(administer),
    ...endingCommands(administer),
  ];
}

function rotateCommand(administer: Administer, { note }: Pick<AdminProcess, "note">): Command {
  return new Command("rotate-token")
    .description(
      "Create a new API token for an account and print it, alone on standard output. The old token, the password, all sessions, additional tokens and unused sign-in links end at once. Sign-in with OpenID stays: it follows the e-mail address.",
    )
    .argument("<username>")
    .action((username: string) =>
      administer(async (deps) => {
        const { token, ended } = await rotateToken(deps, username);
        note(endedSentence(ended));
        return [token];
      }),
    );
}

function endedSentence({ password, sessions, tokens, signInLinks }: Ended): string {
  const names = tokens.length === 0 ? "" : ` (${tokens.join(", ")})`;
  return (
    `Ended with the old token: ${password ? "the" : "no"} password, sessions: ${sessions}, ` +
    `additional tokens: ${tokens.length}${names}, unused sign-in links: ${signInLinks}.`
  );
}

function signInLinkCommand(administer: Administer): Command {
  return new Command("sign-in-link")
    .description(
      `Print a link that signs in to the dashboard, alone on standard output. It works once, within ${LINK_MINUTES} minutes.`,
    )
    .argument("[username]", "may be left out while there is no account: the link then makes the first one")
    .option(
      "--url <url>",
      "the service as browsers reach it; by default PUBLIC_URL, or as it listens on this machine",
      parseUrl,
    )
    .action((username: string | undefined, { url }: { url?: string }) =>
      administer(async (deps) => {
        const service = url ?? serviceUrl(deps);
        return [signInLinkUrl(service, await makeSignInLink(deps, username))];
      }),
    );
}

function parseUrl(text: string): string {
  if (isHttpUrl(text)) return text;
  throw new InvalidArgumentError("Give an http:// or https:// URL, such as https://stats.example.");
}

function serviceUrl({ apiUrl, publicUrl = apiUrl }: Pick<Administered, "apiUrl" | "publicUrl">): string {
  if (publicUrl !== undefined) return publicUrl;
  throw new StartFailure(
    "No server runs on this DATA_DIR: start it, or say with --url where browsers reach the service.",
  );
}

function renameCommand(administer: Administer): Command {
  return new Command("rename-account")
    .description(
      "Give an account another username. Its token, sessions and packages stay. URLs have the new name at once, and the old one is free.",
    )
    .argument("<username>")
    .argument("<new-username>", "unique among users and organizations, ignoring case")
    .action((username: string, to: string) =>
      administer(async ({ pg }) => {
        const before = await renameAccount(pg, { username, to });
        return [`${before} is ${to} now.`];
      }),
    );
}

function endingCommands(administer: Administer): Command[] {
  const switching = (name: string, { disabled }: { disabled: boolean }) =>
    new Command(name).argument("<username>").action((username: string) =>
      administer(async ({ pg }) => {
        await switchAccount(pg, { username, disabled });
        return [disabled ? `${username} is refused now.` : `${username} is let in again.`];
      }),
    );
  return [
    switching("disable-account", { disabled: true }).description(
      "Refuse an account's tokens and sessions at once. Its packages stay, and collect on.",
    ),
    switching("enable-account", { disabled: false }).description(
      "Let a disabled account in again, with the token and password that it had.",
    ),
    new Command("remove-account")
      .alias("delete-account")
      .description(
        "Remove an account for good, with its e-mail address, notifications to it, tokens, sessions and own log. Refused while it owns packages or pixels, is the last owner of an organization, or has imports running.",
      )
      .argument("<username>")
      .action((username: string) =>
        administer(async ({ pg }) => {
          await removeAccount(pg, username);
          return [`${username} is removed.`];
        }),
      ),
    new Command("remove-organization")
      .alias("delete-organization")
      .description(
        "Remove an organization for good, with its members' roles, webhooks, companies, records of imports and own log. Refused while it owns packages or pixels, or their events are not erased yet.",
      )
      .argument("<organization>")
      .action((organization: string) =>
        administer(async ({ pg }) => [`${await removeOrganization(pg, organization)} is removed.`]),
      ),
  ];
}
