import { Problem } from "../../../schemas/problem.js";
import { type Page, type Viewer, type Visit, page } from "../../web/page.js";
import { PageHead, Panel } from "../../web/parts/panel.js";
import type { SignInPagesDeps } from "../sign-in/sign-in-deps.js";
import { additionalTokens, ownToken } from "./tokens.js";
import { password, sessions } from "./sign-in-section.js";
import { path } from "../../web/address.js";
import { Button, Field, Form } from "../../web/parts/form.js";
import { UNKNOWN_FORM } from "../../web/read-form.js";
import { Table } from "../../web/parts/table.js";
import { ROLE_LABELS } from "../role-labels.js";
import { section } from "./account-section.js";

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
        <PageHead title="Account" about={`${visit.user.username} · ${visit.user.email}`} guide="sign-in" />
        {sections.map((each, index) => each.render(loaded[index], visit))}
      </>
    ),
    submit(visit, form) {
      const take = forms.get(form.action);
      if (take === undefined) throw new Problem("not-found", UNKNOWN_FORM);
      return take(visit, form);
    },
    notices: {
      password: "Password saved. All other browsers were signed out.",
      "no-password": "Password removed. All other browsers were signed out.",
      revoked: "Token revoked.",
      ended: "Session ended.",
      "others-ended": "All other browsers signed out.",
    },
  });
}

const organizations = section({
  load: () => undefined,
  render: (_, { user, href }) => (
    <div id="organizations">
      <Panel title="Organizations">
        <Table
          caption="Organizations"
          columns={["Name", "Your role", "Data export"]}
          rows={user.organizations.map((each) => rowOf(each, href))}
          empty="You are not a member of any organization. Create one below."
        />
        <details class="unfold">
          <summary>Create organization</summary>
          <Form action="make-organization" class="form narrow">
            <Field name="name" label="Name" required />
            <Field name="description" label="Description" />
            <Field name="billingEmail" label="Billing email" value={user.email} required />
            <Field name="website" label="Website" placeholder="https://" />
            <Button>Create organization</Button>
          </Form>
        </details>
      </Panel>
    </div>
  ),
  forms: {
    async "make-organization"({ api, href }, form) {
      const name = form.text("name");
      const website = form.optional("website");
      const texts = { description: form.text("description"), billingEmail: form.text("billingEmail") };
      const body = { name, ...texts, ...(website !== undefined && { website }) };
      await api({ method: "POST", path: "/v1/organizations", body });
      return { to: href(path`/o/${name}`) };
    },
  },
});

function rowOf({ name, role, exportEnabled }: Viewer["organizations"][number], href: Visit["href"]) {
  return [
    <a href={href(path`/o/${name}`)}>{name}</a>,
    ROLE_LABELS[role],
    exportEnabled ? "Enabled" : "Disabled",
  ];
}
