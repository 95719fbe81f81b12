import { Command } from "commander";
import { type ListedAccount, listAccounts } from "../../api/features/accounts/administer-accounts.js";
import { listGrants } from "../../api/features/exports/export-grants.js";
import type { Administer } from "./administer.js";

/** `admin list-accounts` and `list-grants`: a table with a header, of columns that tabs separate, or JSON. */
export function listCommands(administer: Administer): Command[] {
  return [
    listCommand("list-accounts")
      .description(
        "List accounts with username, email address, creation time, organizations and roles, and " +
          "whether they can export data or are disabled.",
      )
      .action(({ json }: { json?: true }) =>
        administer(async ({ pg }) => {
          const accounts = await listAccounts(pg);
          return json ? jsonLines(accounts) : table(ACCOUNT_COLUMNS, accounts.map(accountCells));
        }),
      ),
    listCommand("list-grants")
      .description("List users and organizations that can export data.")
      .action(({ json }: { json?: true }) =>
        administer(async ({ pg }) => {
          const grants = await listGrants(pg);
          return json
            ? jsonLines(grants)
            : table(
                ["name", "kind"],
                grants.map(({ name, kind }) => [name, kind]),
              );
        }),
      ),
  ];
}

function listCommand(name: string): Command {
  return new Command(name).option("--json", "print a JSON array");
}

const ACCOUNT_COLUMNS = ["username", "email", "created", "export", "organizations", "state"];

function accountCells(account: ListedAccount): string[] {
  const { username, email, createdAt, exportEnabled, organizations, disabled } = account;
  return [
    username,
    email,
    createdAt,
    exportEnabled ? "export" : "no-export",
    organizations.map(({ name, role }) => `${name}:${role}`).join(",") || "-",
    disabled ? "disabled" : "enabled",
  ];
}

function table(columns: readonly string[], rows: readonly (readonly string[])[]): string[] {
  return [columns, ...rows].map((cells) => cells.join("\t"));
}

function jsonLines(rows: readonly object[]): string[] {
  return [JSON.stringify(rows, null, 2)];
}
