import type { UserV1 } from "../../../../schemas/contracts/user.js";
import { createSession } from "../../../identity/sessions.js";
import { Button, ConfirmButton } from "../../parts/button.js";
import { CopyLine } from "../../parts/copy-line.js";
import { Form } from "../../parts/form.js";
import { Panel } from "../../parts/panel.js";
import { attemptingOf, putSession, sessionOf, type SignInPagesDeps } from "../sign-in/sign-in-deps.js";
import { section } from "./account-section.js";

interface ShownToken {
  ownToken: string;
}

/** The account's own API token. It is in the page only when asked for, so that nobody reads it over a shoulder. */
export function ownToken(deps: SignInPagesDeps) {
  return section({
    load: ({ shown }) => (shown as Partial<ShownToken> | undefined)?.ownToken,
    render: (token) => (
      <Panel title="API token">
        <p>Your programs use the API with this token. It may do everything that you may do.</p>
        {token === undefined ? (
          <Form action="show-token" class="inline">
            <Button kind="quiet">Show the token</Button>
          </Form>
        ) : (
          <CopyLine label="Your API token" text={token} />
        )}
        <ConfirmButton
          action="rotate-token"
          label="Replace the token"
          question="The present token stops working at once, in every program that has it, and every other browser is signed out."
        />
      </Panel>
    ),
    forms: {
      async "show-token"({ api }) {
        const { token } = await api<UserV1>({ path: "/v1/user" });
        return { shown: { ownToken: token } };
      },
      async "rotate-token"({ api, ctx }) {
        const session = sessionOf(ctx);
        const { token } = await api<{ token: string }>({ method: "POST", path: "/v1/user/token" });
        // Every session ended with the old token. This browser goes on with another one, which nobody else can have.
        const { browser } = attemptingOf(ctx, deps);
        const begun = { accountId: session.account.id, method: session.method, browser };
        await putSession(ctx, deps, await createSession(deps, begun));
        return { shown: { ownToken: token } };
      },
    },
  });
}
