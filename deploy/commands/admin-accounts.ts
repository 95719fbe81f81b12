import { Command, InvalidArgumentError } from "commander";
import { type Ended, createAccount, rotateToken } from "../../api/base/identity/accounts.js";
import {
  removeAccount,
  renameAccount,
  switchAccount,
} from "../../api/features/accounts/administer-accounts.js";
import { numbered } from "../../schemas/records/numbered.js";
import { removeOrganization } from "../../api/features/accounts/remove-organization.js";
import { LINK_MINUTES, makeSignInLink, signInLinkUrl } from "../../api/base/identity/sign-in-links.js";
import { isHttpUrl } from "../../schemas/formats.js";
import { StartFailure } from "../process/start-failure.js";
import type { AdminProcess, Administer, Administered } from "./administer.js";

export function accountCommands(administer: Administer, process: Pick<AdminProcess, "note">): Command[] {
  return [
    new Command("create-account")
      .description("Create an account and print its API token on standard output.")
      .requiredOption("--username <name>", "username, unique among users and organizations, ignoring case")
      .requiredOption("--email <address>", "email address of the account")
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
      "Rotate the API token of an account and print the new one on standard output. The old token, the " +
        "password, all sessions, access tokens and unused sign-in links are revoked immediately. OpenID " +
        "sign-in still works, because it uses the email address.",
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
    `Also revoked: ${password ? "the password, " : ""}` +
    `${numbered(sessions, "session")}, ${numbered(tokens.length, "access token")}${names}, ` +
    `${numbered(signInLinks, "unused sign-in link")}.`
  );
}

function signInLinkCommand(administer: Administer): Command {
  return new Command("sign-in-link")
    .description(
      `Print a sign-in link for the dashboard on standard output. It works once, within ${LINK_MINUTES} minutes.`,
    )
    .argument("[username]", "optional if there is no account yet: the link then creates the first account")
    .option(
      "--url <url>",
      "URL of the service for browsers (default: PUBLIC_URL, or the local address)",
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
  throw new InvalidArgumentError("Pass an http:// or https:// URL, such as https://stats.example.");
}

function serviceUrl({ apiUrl, publicUrl = apiUrl }: Pick<Administered, "apiUrl" | "publicUrl">): string {
  if (publicUrl !== undefined) return publicUrl;
  throw new StartFailure(
    "The service is not running on this DATA_DIR. Start it, or pass its URL with --url.",
  );
}

function renameCommand(administer: Administer): Command {
  return new Command("rename-account")
    .description(
      "Rename an account. The account keeps its tokens, sessions and packages. URLs change immediately, " +
        "and others can take the old name.",
    )
    .argument("<username>")
    .argument("<new-username>", "unique among users and organizations, ignoring case")
    .action((username: string, to: string) =>
      administer(async ({ pg }) => {
        const before = await renameAccount(pg, { username, to });
        return [`Renamed ${before} to ${to}.`];
      }),
    );
}

function endingCommands(administer: Administer): Command[] {
  const switching = (name: string, { disabled }: { disabled: boolean }) =>
    new Command(name).argument("<username>").action((username: string) =>
      administer(async ({ pg }) => {
        await switchAccount(pg, { username, disabled });
        return [disabled ? `Disabled account ${username}.` : `Enabled account ${username}.`];
      }),
    );
  return [
    switching("disable-account", { disabled: true }).description(
      "Disable an account: its tokens and sessions stop working immediately. Its packages are kept, and " +
        "their downloads are still counted.",
    ),
    switching("enable-account", { disabled: false }).description(
      "Enable a disabled account. Its token and password work again.",
    ),
    new Command("remove-account")
      .alias("delete-account")
      .description(
        "Permanently remove an account with its email address, notifications to this address, tokens, " +
          "sessions and audit log. Fails if the account owns packages or pixels, is the last owner of an " +
          "organization, or has running imports.",
      )
      .argument("<username>")
      .action((username: string) =>
        administer(async ({ pg }) => {
          await removeAccount(pg, username);
          return [`Removed account ${username}.`];
        }),
      ),
    new Command("remove-organization")
      .alias("delete-organization")
      .description(
        "Permanently remove an organization with its memberships, webhooks, companies, import records " +
          "and audit log. Fails if the organization owns packages or pixels, or if their events are still " +
          "being erased.",
      )
      .argument("<organization>")
      .action((organization: string) =>
        administer(async ({ pg }) => [`Removed organization ${await removeOrganization(pg, organization)}.`]),
      ),
  ];
}
