import Bowser from "bowser";
import { Problem } from "../../../../schemas/problem.js";
import { recordOwn } from "../../../identity/sign-in.js";
import {
  deleteOtherSessions,
  deleteSession,
  listSessions,
  SESSION_DAYS,
  type ListedSession,
  type SignInMethod,
} from "../../../identity/stored-sessions.js";
import { inTransaction } from "../../../postgres/connection.js";
import { Button } from "../../parts/button.js";
import { Form } from "../../parts/form.js";
import { Panel } from "../../parts/panel.js";
import { Table } from "../../parts/table.js";
import { sessionOf, type SignInPagesDeps } from "../sign-in/sign-in-deps.js";
import { section } from "./account-section.js";
import { Time } from "./time.js";

/** The browsers that are signed in. */
export function sessions({ pg }: SignInPagesDeps) {
  return section({
    async load({ ctx }) {
      const { id, account } = sessionOf(ctx);
      return { present: id, listed: await listSessions(pg, account.id) };
    },
    render: ({ present, listed }) => (
      <Panel title="Sessions">
        <p>
          Browsers that are signed in as you. A session ends after {SESSION_DAYS.idle} days without use, and{" "}
          {SESSION_DAYS.whole} days after it began.
        </p>
        <Table
          caption="Sessions"
          columns={[
            { name: "Browser" },
            { name: "Network", isMinor: true },
            { name: "Signed in with", isMinor: true },
            { name: "Since", isMinor: true },
            { name: "Last used" },
            { name: "End", isUnnamed: true },
          ]}
          rows={listed.map((each) => rowOf(each, present))}
        />
        {listed.length > 1 && (
          <Form action="end-other-sessions" class="inline">
            <Button kind="quiet">Sign out every other browser</Button>
          </Form>
        )}
      </Panel>
    ),
    forms: {
      async "end-session"({ ctx, href }, form) {
        const { account } = sessionOf(ctx);
        const id = form.text("id");
        const listed = await listSessions(pg, account.id);
        if (!listed.some((each) => each.id === id)) throw new Problem("not-found", "This session is over.");
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
  link: "a link",
  token: "the API token",
  password: "the password",
  openid: "OpenID",
};

function rowOf({ id, userAgent, network, method, createdAt, lastUsedAt }: ListedSession, present: string) {
  const end = (
    <Form action="end-session" class="inline">
      <input type="hidden" name="id" value={id} />
      <Button kind="quiet">End</Button>
    </Form>
  );
  return [
    <span class="one-line">{browserName(userAgent)}</span>,
    <span class="one-line">{network ?? "unknown"}</span>,
    <span class="one-line">{METHODS[method]}</span>,
    <Time at={createdAt} />,
    <Time at={lastUsedAt} />,
    id === present ? "this one" : end,
  ];
}

/** `Firefox on Linux`, or the beginning of what it calls itself. */
function browserName(userAgent: string): string {
  if (userAgent === "") return "unknown";
  const { browser, os } = Bowser.parse(userAgent);
  const names = [browser.name, os.name].filter((name) => name !== undefined && name !== "");
  return names.join(" on ") || userAgent.slice(0, 40);
}
