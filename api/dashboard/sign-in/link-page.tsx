import type { Problem } from "../../../schemas/problem.js";
import { STALE_LINK, makeFirstAccount } from "../../features/accounts/first-account.js";
import type { SignInLink } from "../../base/identity/sign-in-links.js";
import { readLink, signInByLink } from "../../base/identity/sign-in.js";
import { type Page, page, useVisit } from "../../web/page.js";
import { Button, Field, Form, ProblemBox } from "../../web/parts/form.js";
import { PageHead } from "../../web/parts/panel.js";
import { type SignInPagesDeps, attemptingOf, putSession } from "./sign-in-deps.js";

interface Opened extends SignInLink {
  key: string;
}

/**
 * The secret is in the link's fragment, which browsers send to nobody: the page's script posts it, or a person pastes
 * the link. Only the next button uses it up: chat programs and mail scanners open links before the person does.
 */
export function linkPage(deps: SignInPagesDeps): Page {
  return page<Opened | undefined>({
    path: "/sign-in/link",
    isOpen: true,
    load({ shown, refused }) {
      if (refused === undefined || !isOfFields(refused.problem)) return shown as Opened | undefined;
      return { key: refused.form.text("key"), account: null, isStale: false };
    },
    title: (link) => (link?.account === null && !link.isStale ? "Create the first account" : "Sign in"),
    render(link) {
      if (link === undefined) return <OpenLink />;
      if (link.isStale) return <StaleLink adminCommand={deps.adminCommand} />;
      return link.account === null ? (
        <MakeAccount link={link.key} adminCommand={deps.adminCommand} />
      ) : (
        <SignIn link={link.key} {...link.account} />
      );
    },
    async submit({ ctx, href }, form) {
      const key = /mtl_[\w-]+/.exec(form.text("key"))?.[0] ?? "";
      const attempting = attemptingOf(ctx, deps);
      if (form.action === "open") return { shown: { key, ...(await readLink(deps, key, attempting)) } };
      const made = {
        username: form.text("username"),
        email: form.text("email"),
        organization: form.optional("organization"),
      };
      const secret =
        form.action === "first-account"
          ? await makeFirstAccount(deps, { link: key, made }, attempting)
          : await signInByLink(deps, key, attempting);
      await putSession(ctx, deps, secret);
      return { to: href("") };
    },
  });
}

/** Only the first account has fields, which are looked at once its link is known to be good. */
function isOfFields({ code }: Problem): boolean {
  return code === "invalid-body" || code === "already-exists";
}

function OpenLink() {
  const { href, refused } = useVisit();
  return (
    <div class="sign-in">
      <PageHead title={refused === undefined ? "Sign in with a link" : "This link no longer works"} />
      {refused && refused.form.action !== "open" && <ProblemBox problem={refused.problem} />}
      <Form action="open">
        <Field
          name="key"
          label="Sign-in link"
          autocomplete="off"
          hint="Paste the whole sign-in link here."
          required
        />
        <Button>Continue</Button>
      </Form>
      <p>
        <a href={href("/sign-in")}>Sign in another way</a>
      </p>
    </div>
  );
}

function StaleLink({ adminCommand }: { adminCommand: string }) {
  const { href } = useVisit();
  return (
    <div class="sign-in">
      <PageHead title="This link no longer works" />
      <p class="problem" role="alert">
        {STALE_LINK}
      </p>
      <p>
        Sign in, or create a sign-in link for your account: <code>{adminCommand} sign-in-link USERNAME</code>
      </p>
      <p>
        <a class="button" href={href("/sign-in")}>
          Sign in
        </a>
      </p>
    </div>
  );
}

function SignIn({ link, username }: { link: string; username: string }) {
  return (
    <div class="sign-in">
      <PageHead title={`Sign in as ${username}`} />
      <Form action="sign-in">
        <input type="hidden" name="key" value={link} />
        <Button>Sign in</Button>
        <p class="hint">This link works once.</p>
      </Form>
    </div>
  );
}

function MakeAccount({ link, adminCommand }: { link: string; adminCommand: string }) {
  return (
    <div class="sign-in">
      <PageHead title="Create the first account" />
      <Form action="first-account">
        <input type="hidden" name="key" value={link} />
        <Field name="username" label="Username" autocomplete="username" required />
        <Field name="email" label="Email address" type="email" autocomplete="email" required />
        <Field
          name="organization"
          label="Organization"
          hint="Optional. Leave empty if the packages are your own. You can create organizations later."
        />
        <Button>Create account</Button>
        <p class="hint">
          To sign in later, set a password on your account page, or create a sign-in link:{" "}
          <code>{adminCommand} sign-in-link USERNAME</code>
        </p>
        <p class="hint">
          All statistics are visible right away. Data export, as files and through the API, is disabled until
          the operator enables it: <code>{adminCommand} grant-export NAME</code>
        </p>
      </Form>
    </div>
  );
}
