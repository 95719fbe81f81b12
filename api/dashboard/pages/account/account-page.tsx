import { Problem } from "../../../../schemas/problem.js";
import { page, type Page } from "../../page.js";
import { PageHead } from "../../parts/page-head.js";
import type { SignInPagesDeps } from "../sign-in/sign-in-deps.js";
import { additionalTokens } from "./additional-tokens.js";
import { organizations } from "./organizations.js";
import { ownToken } from "./own-token.js";
import { password } from "./password.js";
import { sessions } from "./sessions.js";

/** The person's own account: its token and further ones, password, sessions and organizations. */
export function accountPage(deps: SignInPagesDeps): Page {
  const sections = [ownToken(deps), additionalTokens, password(deps), sessions(deps), organizations];
  const forms = new Map(sections.flatMap((each) => Object.entries(each.forms)));
  return page({
    path: "/account",
    section: "account",
    load: (visit) => Promise.all(sections.map((each) => each.load(visit))),
    title: () => "Account",
    render: (loaded, visit) => (
      <>
        <PageHead title={visit.user.username} about={visit.user.email} />
        {sections.map((each, index) => each.render(loaded[index], visit))}
      </>
    ),
    submit(visit, form) {
      const take = forms.get(form.action);
      if (take === undefined) throw new Problem("not-found", "This page has no such form.");
      return take(visit, form);
    },
    notices: {
      password: "The password is set. Every other browser is signed out.",
      revoked: "The token is revoked.",
      ended: "The session is ended.",
      "others-ended": "Every other browser is signed out.",
    },
  });
}
