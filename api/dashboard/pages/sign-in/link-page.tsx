import { makeFirstAccount } from "../../../accounts/first-account.js";
import { signInByLink, usableLink } from "../../../identity/sign-in.js";
import { type Page, page } from "../../page.js";
import { Button, Field, Form } from "../../parts/form.js";
import { PageHead } from "../../parts/panel.js";
import { NotSignedIn, type SignInPagesDeps, attemptingOf, putSession } from "./sign-in-deps.js";

/** Only the button uses the link up: chat programs and mail scanners fetch links before the person does. */
export function linkPage(deps: SignInPagesDeps): Page {
  return page({
    path: "/sign-in/link",
    isOpen: true,
    async load({ ctx, query, refused }) {
      const key = refused?.form.text("key") ?? query.get("key") ?? "";
      const link = await usableLink(deps.pg, { secret: key, tokens: deps.tokens });
      if (link === undefined) ctx.status = 401;
      return { key, link };
    },
    title: ({ link }) => (link?.account === null ? "The first account" : "Sign in"),
    render({ key, link }) {
      if (link === undefined) return <NotSignedIn title="This link does not sign in" />;
      return link.account === null ? <MakeAccount link={key} /> : <SignIn link={key} {...link.account} />;
    },
    async submit({ ctx, href }, form) {
      const link = form.text("key");
      const attempting = attemptingOf(ctx, deps);
      const made = {
        username: form.text("username"),
        email: form.text("email"),
        organization: form.optional("organization"),
      };
      const secret =
        form.action === "first-account"
          ? await makeFirstAccount(deps, { link, made }, attempting)
          : await signInByLink(deps, link, attempting);
      await putSession(ctx, deps, secret);
      return { to: href("") };
    },
  });
}

function SignIn({ link, username }: { link: string; username: string }) {
  return (
    <div class="sign-in">
      <PageHead title={`Sign in as ${username}`} />
      <Form action="sign-in">
        <input type="hidden" name="key" value={link} />
        <Button>Sign in</Button>
        <p class="hint">The link is used up by this.</p>
      </Form>
    </div>
  );
}

function MakeAccount({ link }: { link: string }) {
  return (
    <div class="sign-in">
      <PageHead title="Make the first account" />
      <Form action="first-account">
        <input type="hidden" name="key" value={link} />
        <Field name="username" label="Username" autocomplete="username" required />
        <Field name="email" label="E-mail address" type="email" autocomplete="email" required />
        <Field
          name="organization"
          label="Organization"
          hint="Leave it empty if the packages are your own. You can add organizations at any time."
        />
        <Button>Make the account</Button>
        <p class="hint">
          You see all statistics here. Export of data, as files and by the API, is off until the operator
          grants it: <code>npm run admin -- grant-export NAME</code>
        </p>
      </Form>
    </div>
  );
}
