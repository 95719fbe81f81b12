import { changePassword, FRESH_MINUTES, hasPassword, isFresh } from "../../../identity/change-password.js";
import { PASSWORD_LENGTH } from "../../../identity/passwords.js";
import { Button } from "../../parts/button.js";
import { Field, Form } from "../../parts/form.js";
import { Panel } from "../../parts/panel.js";
import { attemptingOf, putSession, sessionOf, type SignInPagesDeps } from "../sign-in/sign-in-deps.js";
import { section } from "./account-section.js";

/** The password: none at first. */
export function password(deps: SignInPagesDeps) {
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
        const wanted = { present: form.text("present"), wanted: form.text("wanted") };
        const change = { session: sessionOf(ctx), ...wanted };
        await putSession(ctx, deps, await changePassword(deps, change, attemptingOf(ctx, deps)));
        return { to: href("/account", { notice: "password" }) };
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
        You have none. To set one, sign in with a link or the API token, and come here within {FRESH_MINUTES}{" "}
        minutes.
      </p>
    );
  return (
    <>
      <p>
        {has ? "You can sign in with a password." : "You have none, and can set one now."} Every other browser
        is signed out by a new one.
      </p>
      <Form action="set-password" class="form narrow">
        {/* Tells password managers whose it is. */}
        <span class="hidden" aria-hidden="true">
          <input type="text" autocomplete="username" value={username} readOnly tabIndex={-1} />
        </span>
        {!fresh && (
          <Field
            name="present"
            label="Present password"
            type="password"
            autocomplete="current-password"
            hint={`Forgotten? Sign in with a link or the API token, and come here within ${FRESH_MINUTES} minutes.`}
            required
          />
        )}
        <Field
          name="wanted"
          label="New password"
          type="password"
          autocomplete="new-password"
          hint={`At least ${PASSWORD_LENGTH.min} characters.`}
          required
        />
        <Button>{has ? "Change the password" : "Set the password"}</Button>
      </Form>
    </>
  );
}
