import {
  FRESH_MINUTES,
  type PasswordChange,
  changePassword,
  hasPassword,
  isFresh,
} from "../../base/identity/change-password.js";
import type { ApiContext } from "../../base/http/route.js";
import { PASSWORD_LENGTH } from "../../base/identity/passwords.js";
import { Button, ConfirmButton, Field, Form } from "../../web/parts/form.js";
import { Panel } from "../../web/parts/panel.js";
import { type SignInPagesDeps, attemptingOf, putSession, sessionOf } from "../sign-in/sign-in-deps.js";
import { Time } from "../../web/parts/time.js";
import { section } from "./account-section.js";
import Bowser from "bowser";
import { Problem } from "../../../schemas/problem.js";
import { recordOwn } from "../../base/identity/sign-in.js";
import {
  type ListedSession,
  SESSION_DAYS,
  type SignInMethod,
  deleteOtherSessions,
  deleteSession,
  listSessions,
} from "../../base/identity/sessions.js";
import { inTransaction } from "../../base/postgres/connection.js";
import { Table } from "../../web/parts/table.js";

export function password(deps: SignInPagesDeps) {
  const change = async (ctx: ApiContext, asked: Omit<PasswordChange, "session">) => {
    const changed = await changePassword(
      deps,
      { session: sessionOf(ctx), ...asked },
      attemptingOf(ctx, deps),
    );
    await putSession(ctx, deps, changed);
  };
  return section({
    async load({ ctx }) {
      const session = sessionOf(ctx);
      const { username } = session.account;
      return { username, has: await hasPassword(deps.pg, session), fresh: isFresh(session) };
    },
    render: (state) => (
      <Panel title="Password">
        <PasswordForm {...state} />
      </Panel>
    ),
    forms: {
      async "set-password"({ ctx, href }, form) {
        await change(ctx, { present: form.text("present"), wanted: form.text("wanted") });
        return { to: href("/account", { notice: "password" }) };
      },
      async "remove-password"({ ctx, href }, form) {
        await change(ctx, { present: form.text("present"), wanted: undefined });
        return { to: href("/account", { notice: "no-password" }) };
      },
    },
  });
}

interface PasswordFormProps {
  username: string;
  has: boolean;
  fresh: boolean;
}

function PasswordForm({ username, has, fresh }: PasswordFormProps) {
  if (!has && !fresh)
    return (
      <p>
        No password yet. To set one, sign in with a link or your API token, and return to this page within{" "}
        {FRESH_MINUTES} minutes.
      </p>
    );
  return (
    <>
      <p>{has ? "Changing your password" : "No password yet. Setting one"} signs out all other browsers.</p>
      <Form action="set-password" class="form narrow">
        {/* Tells password managers whose it is. */}
        <span class="hidden" aria-hidden="true">
          <input type="text" autocomplete="username" value={username} readOnly tabIndex={-1} />
        </span>
        {!fresh && <PresentPassword />}
        <Field
          name="wanted"
          label="New password"
          type="password"
          autocomplete="new-password"
          hint={`At least ${PASSWORD_LENGTH.min} characters.`}
          required
        />
        <Button>{has ? "Change password" : "Set password"}</Button>
      </Form>
      {has && (
        <ConfirmButton
          action="remove-password"
          label="Remove password"
          question="You will no longer be able to sign in with a password. All other browsers will be signed out."
        >
          {!fresh && <PresentPassword />}
        </ConfirmButton>
      )}
    </>
  );
}

function PresentPassword() {
  return (
    <Field
      name="present"
      label="Current password"
      type="password"
      autocomplete="current-password"
      hint={`Forgot it? Sign in with a link or your API token, and return to this page within ${FRESH_MINUTES} minutes.`}
      required
    />
  );
}

export function sessions({ pg }: SignInPagesDeps) {
  return section({
    async load({ ctx }) {
      const { id, account } = sessionOf(ctx);
      return { present: id, listed: await listSessions(pg, account.id) };
    },
    render: ({ present, listed }) => (
      <Panel title="Sessions">
        <p>
          These browsers are signed in to your account. A session expires after {SESSION_DAYS.idle} days
          without use, and at the latest {SESSION_DAYS.whole} days after sign-in.
        </p>
        <Table
          caption="Sessions"
          columns={[
            "Browser",
            { name: "Network", isMinor: true },
            { name: "Sign-in method", isMinor: true },
            { name: "Signed in", isMinor: true },
            "Last used",
            { name: "Actions", isUnnamed: true },
          ]}
          rows={listed.map((each) => rowOf(each, present))}
        />
        {listed.length > 1 && (
          <Form action="end-other-sessions" class="inline">
            <Button kind="quiet">Sign out all other browsers</Button>
          </Form>
        )}
      </Panel>
    ),
    forms: {
      async "end-session"({ ctx, href }, form) {
        const { account } = sessionOf(ctx);
        const id = form.text("id");
        const listed = await listSessions(pg, account.id);
        if (!listed.some((each) => each.id === id))
          throw new Problem("not-found", "This session has already ended.");
        await inTransaction(pg, async (client) => {
          await deleteSession(client, { accountId: account.id, id });
          await recordOwn(client, { account, requestId: ctx.state.requestId, action: "user.end-session" });
        });
        return { to: href("/account", { notice: "ended" }) };
      },
      async "end-other-sessions"({ ctx, href }) {
        const { id, account } = sessionOf(ctx);
        await inTransaction(pg, async (client) => {
          await deleteOtherSessions(client, { accountId: account.id, id });
          await recordOwn(client, { account, requestId: ctx.state.requestId, action: "user.end-session" });
        });
        return { to: href("/account", { notice: "others-ended" }) };
      },
    },
  });
}

const METHODS: Record<SignInMethod, string> = {
  link: "Sign-in link",
  token: "API token",
  password: "Password",
  openid: "OpenID",
};

function rowOf({ id, userAgent, network, method, createdAt, lastUsedAt }: ListedSession, present: string) {
  const end = (
    <Form action="end-session" class="inline">
      <input type="hidden" name="id" value={id} />
      <Button kind="quiet">Sign out</Button>
    </Form>
  );
  return [
    <span class="one-line">{browserName(userAgent)}</span>,
    <span class="one-line">{network ?? "Unknown"}</span>,
    <span class="one-line">{METHODS[method]}</span>,
    <Time at={createdAt} />,
    <Time at={lastUsedAt} />,
    id === present ? "Current session" : end,
  ];
}

/** `Firefox on Linux`, or the beginning of what it calls itself. */
function browserName(userAgent: string): string {
  if (userAgent === "") return "Unknown";
  const { browser, os } = Bowser.parse(userAgent);
  const names = [browser.name, os.name].filter((name) => name !== undefined && name !== "");
  return names.join(" on ") || userAgent.slice(0, 40);
}
