import { countAccounts } from "../../base/identity/stored-accounts.js";
import { recordOwn, signInBySecret } from "../../base/identity/sign-in.js";
import { type Page, page } from "../../web/page.js";
import { Button, CopyLine, Field, Form } from "../../web/parts/form.js";
import { PageHead } from "../../web/parts/panel.js";
import { type SignInPagesDeps, attemptingOf, putSession, targetAddress } from "./sign-in-deps.js";
import { clearSessionCookie } from "../../base/http/middleware/session.js";
import { deleteSession } from "../../base/identity/sessions.js";
import { inTransaction } from "../../base/postgres/connection.js";

export function signInPage(deps: SignInPagesDeps): Page {
  return page({
    path: "/sign-in",
    isOpen: true,
    async load({ ctx, query, known, refused, href }) {
      const to = refused?.form.text("to") ?? query.get("to") ?? "";
      if (known.user !== undefined && refused === undefined) ctx.redirect(targetAddress(ctx, to));
      const { openid, adminCommand } = deps;
      return {
        adminCommand,
        to,
        isNew: (await countAccounts(deps.pg)) === 0,
        openid: openid && { name: openid.name, address: href("/sign-in/openid", { to: to || undefined }) },
      };
    },
    title: () => "Sign in",
    render: (data) => (data.isNew ? <NoAccount {...data} /> : <SignIn {...data} />),
    async submit({ ctx }, form) {
      const sent = { username: form.text("username"), secret: form.text("secret") };
      await putSession(ctx, deps, await signInBySecret(deps, sent, attemptingOf(ctx, deps)));
      return { to: targetAddress(ctx, form.text("to")) };
    },
    notices: { "signed-out": "Signed out." },
  });
}

interface SignInProps {
  to: string;
  openid: { name: string; address: string } | undefined;
  adminCommand: string;
}

function SignIn({ to, openid, adminCommand }: SignInProps) {
  return (
    <div class="sign-in">
      <PageHead
        title="Sign in"
        about="See which companies, countries and versions are behind your downloads."
      />
      <Form action="sign-in">
        <input type="hidden" name="to" value={to} />
        <Field name="username" label="Username" autocomplete="username" required />
        <Field
          name="secret"
          label="Password or API token"
          type="password"
          autocomplete="current-password"
          required
        />
        <Button>Sign in</Button>
      </Form>
      {openid && (
        <div>
          <a class="button" href={openid.address}>
            Sign in with {openid.name}
          </a>
        </div>
      )}
      <details class="unfold">
        <summary>Can't sign in?</summary>
        <p>
          The operator of this service can create a sign-in link for you. You can then set a new password.
        </p>
        <CopyLine label="Command" text={`${adminCommand} sign-in-link USERNAME`} />
      </details>
    </div>
  );
}

function NoAccount({ adminCommand }: Pick<SignInProps, "adminCommand">) {
  return (
    <div class="sign-in">
      <PageHead title="No account yet" />
      <p>
        When the service started, it printed a link that creates the first account. The link is valid for 15
        minutes. Print a new link with:
      </p>
      <CopyLine label="Command" text={`${adminCommand} sign-in-link`} />
    </div>
  );
}

/** Takes the button of the account menu. Somebody who opens the address has not asked for it, and stays signed in. */
export function signOutPage({ pg }: SignInPagesDeps): Page {
  return page({
    path: "/sign-out",
    isOpen: true,
    load: ({ ctx, href }) => ctx.redirect(href("")),
    title: () => "Sign out",
    render: () => null,
    async submit({ ctx, href }) {
      const { session, requestId } = ctx.state;
      if (session !== undefined)
        await inTransaction(pg, async (client) => {
          const { id, account } = session;
          await deleteSession(client, { accountId: account.id, id });
          await recordOwn(client, { account, requestId, action: "user.sign-out" });
        });
      clearSessionCookie(ctx);
      return { to: href("/sign-in", { notice: "signed-out" }) };
    },
  });
}
