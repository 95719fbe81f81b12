import type { Pool } from "pg";
import { SERVICE } from "../../schemas/contracts/audit-entry.js";
import { Problem } from "../../schemas/problem.js";
import { insertAuditEntry } from "../access/audit-entries.js";
import { orErrorPage } from "../dashboard/error-page.js";
import { bareVisit } from "../dashboard/open-visit.js";
import { type ApiContext, type Operation, type PublicRoute, paramOf } from "../http/route.js";
import type { Sealer } from "../identity/tokens.js";
import { inTransaction } from "../postgres/connection.js";
import { cancelMessages } from "./messages.js";
import {
  type StoredNotification,
  disableNotification,
  notificationTarget,
  readStoredNotification,
} from "./notifications.js";
import { renderUnsubscribePage } from "./unsubscribe-page.js";
import { isUnsubscribeToken } from "./unsubscribe-token.js";

export interface UnsubscribeDeps {
  pg: Pool;
  /** Its kind is "notification-target". */
  sealer: Sealer;
  /** Counts a request by its address. Throws `rate-limited`. */
  limit: (ctx: ApiContext) => Promise<void>;
}

const PATH = "/unsubscribe/:notification";

/** Looking changes nothing, because mail servers look at links. RFC 8058: the POST needs no session, only its token. */
export function unsubscribeRoutes({ pg, sealer, limit }: UnsubscribeDeps): PublicRoute[] {
  const find = async (ctx: ApiContext): Promise<StoredNotification> => {
    await limit(ctx);
    const stored = await readStoredNotification(pg, paramOf(ctx, "notification"));
    const isFound =
      stored?.channel === "email" && isUnsubscribeToken(sealer, stored, String(ctx.query["token"]));
    if (!isFound) throw new Problem("not-found", "This link is for no mail that is still sent.");
    return stored;
  };
  return [
    {
      method: "GET",
      path: PATH,
      operation: operationOf("getUnsubscribePage", "A page with a button that ends mails"),
      handle: (ctx) => orErrorPage(bareVisit(ctx), async () => renderUnsubscribePage(ctx, await find(ctx))),
    },
    {
      method: "POST",
      path: PATH,
      operation: operationOf("unsubscribe", "End the mails of a notification (RFC 8058)"),
      handle: (ctx) =>
        orErrorPage(bareVisit(ctx), async () => {
          const stored = await find(ctx);
          await endMails(pg, { stored, requestId: ctx.state.requestId });
          renderUnsubscribePage(ctx, { ...stored, enabled: false });
        }),
    },
  ];
}

async function endMails(
  pg: Pool,
  { stored, requestId }: { stored: StoredNotification; requestId: string },
): Promise<void> {
  const { id, ownerId, targetShown } = stored;
  const reason = `${targetShown} unsubscribed.`;
  await inTransaction(pg, async (client) => {
    if (!(await disableNotification(client, { id, reason }))) return;
    await cancelMessages(client, id);
    await insertAuditEntry(client, {
      ownerId,
      by: SERVICE,
      action: "notifications.unsubscribe",
      target: notificationTarget(stored),
      changes: { enabled: false, disabled_reason: reason, request_id: requestId },
    });
  });
}

function operationOf(id: string, summary: string): Operation {
  const page = (description: string) => ({
    description,
    schema: { type: "string" },
    types: ["text/html"],
  });
  return {
    id,
    tag: "Notifications",
    summary,
    description: "Mails have its address in their text and in `List-Unsubscribe`.",
    path: { notification: { schema: { type: "string" }, description: "The notification" } },
    query: {
      token: {
        schema: { type: "string" },
        required: true,
        description: "Shows that the caller has the mail",
      },
    },
    answers: {
      200: page("The page"),
      404: page("The link is for no mail that is still sent"),
      429: page("Too many requests came from the caller's address"),
      503: page("A store cannot be reached"),
    },
  };
}
