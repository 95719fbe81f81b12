import { type ApiTokenV1, SCOPES } from "../../../schemas/contracts/user.js";
import { showToken } from "../../base/identity/accounts.js";
import { createSession } from "../../base/identity/sessions.js";
import { Button, Check, ConfirmButton, CopyLine, Field, Form, Select } from "../../web/parts/form.js";
import { Panel } from "../../web/parts/panel.js";
import { type SignInPagesDeps, attemptingOf, putSession, sessionOf } from "../sign-in/sign-in-deps.js";
import { Time } from "../../web/parts/time.js";
import { section } from "./account-section.js";
import { path } from "../../web/address.js";
import type { Viewer } from "../../web/page.js";
import { Table } from "../../web/parts/table.js";

interface ShownToken {
  ownToken: string;
}

/** In the page only when asked for, so that nobody reads it over a shoulder. */
export function ownToken(deps: SignInPagesDeps) {
  return section({
    load: ({ shown }) => (shown as Partial<ShownToken> | undefined)?.ownToken,
    render: (token) => (
      <Panel title="API token">
        <p>Use this token to call the API. It has all of your permissions.</p>
        {token === undefined ? (
          <Form action="show-token" class="inline">
            <Button kind="quiet">Show token</Button>
          </Form>
        ) : (
          <CopyLine label="Your API token" text={token} />
        )}
        <ConfirmButton
          action="rotate-token"
          label="Replace token"
          question="The current token stops working immediately in every program that uses it. Your password and unused sign-in links are removed, and all other browsers are signed out."
        >
          <Check
            name="revokeTokens"
            value="true"
            label="The token may have leaked: also revoke all access tokens"
          />
        </ConfirmButton>
      </Panel>
    ),
    forms: {
      async "show-token"({ ctx }) {
        const { account } = sessionOf(ctx);
        return { shown: { ownToken: await showToken(deps, { account, requestId: ctx.state.requestId }) } };
      },
      async "rotate-token"({ api, ctx }, form) {
        const { account } = sessionOf(ctx);
        const query = { revokeTokens: form.optional("revokeTokens") };
        const { token } = await api<{ token: string }>({ method: "POST", path: "/v1/user/token", query });
        // Every session ended with the old token. This browser goes on with another one, which nobody else can have.
        const { browser } = attemptingOf(ctx, deps);
        const begun = { accountId: account.id, method: "token", browser } as const;
        await putSession(ctx, deps, await createSession(deps, begun));
        return { shown: { ownToken: token } };
      },
    },
  });
}

type MadeToken = ApiTokenV1 & { token: string };

export const additionalTokens = section({
  async load({ api, shown }) {
    const made = (shown as { madeToken?: MadeToken } | undefined)?.madeToken;
    return { made, tokens: await api<ApiTokenV1[]>({ path: "/v1/user/tokens" }) };
  },
  render: ({ made, tokens }, { user }) => (
    <Panel title="Access tokens">
      <p>Tokens with limited permissions, for scripts and other programs.</p>
      {made && (
        <div class="notice" role="status">
          <p>Token {made.name} created. Copy it now: it won't be shown again.</p>
          <CopyLine label={`Token ${made.name}`} text={made.token} />
        </div>
      )}
      <Table
        caption="Access tokens"
        columns={[
          "Name",
          "Permissions",
          "Owner",
          "Expires",
          "Last used",
          { name: "Actions", isUnnamed: true },
        ]}
        rows={tokens.map(rowOf)}
        empty="No access tokens yet."
      />
      <details class="unfold">
        <summary>Create access token</summary>
        <NewToken user={user} />
      </details>
    </Panel>
  ),
  forms: {
    async "make-token"({ api }, form) {
      const day = form.optional("expiresAt");
      const body = {
        name: form.text("name"),
        scopes: form.all("scopes"),
        ...(form.text("owner") !== "" && { owner: form.text("owner") }),
        ...(day !== undefined && { expiresAt: `${day}T23:59:59Z` }),
      };
      return {
        shown: { madeToken: await api<MadeToken>({ method: "POST", path: "/v1/user/tokens", body }) },
      };
    },
    async "revoke-token"({ api, href }, form) {
      await api({ method: "DELETE", path: path`/v1/user/tokens/${form.text("id")}` });
      return { to: href("/account", { notice: "revoked" }) };
    },
  },
});

function rowOf({ id, name, scopes, owner, expiresAt, lastUsedAt }: ApiTokenV1) {
  return [
    name,
    scopes.join(", "),
    owner ?? "All",
    expiresAt === undefined ? "Never" : <Time at={expiresAt} />,
    lastUsedAt === undefined ? "Never" : <Time at={lastUsedAt} />,
    <ConfirmButton
      action="revoke-token"
      label="Revoke"
      question={`Programs that use ${name} will lose access immediately.`}
    >
      <input type="hidden" name="id" value={id} />
    </ConfirmButton>,
  ];
}

function NewToken({ user }: { user: Viewer }) {
  const owners = [user.username, ...user.organizations.map(({ name }) => name)];
  return (
    <Form action="make-token" class="form narrow">
      <Field name="name" label="Name" hint="Shown in the audit log." required />
      <fieldset>
        <legend>Permissions</legend>
        {SCOPES.map((scope) => (
          <Check name="scopes" value={scope} label={scope} />
        ))}
      </fieldset>
      <Select
        name="owner"
        label="Owner"
        options={[
          { value: "", label: "You and all of your organizations" },
          ...owners.map((name) => ({ value: name, label: name })),
        ]}
      />
      <Field
        name="expiresAt"
        label="Expiry date"
        type="date"
        hint="Valid until the end of this day (UTC). Leave empty for no expiry."
      />
      <Button>Create token</Button>
    </Form>
  );
}
