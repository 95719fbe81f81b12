import { clearSessionCookie } from "../../../http/session-cookie.js";
import { recordOwn } from "../../../identity/sign-in.js";
import { deleteSession } from "../../../identity/stored-sessions.js";
import { inTransaction } from "../../../postgres/connection.js";
import { page, type Page } from "../../page.js";
import type { SignInPagesDeps } from "./sign-in-deps.js";

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
