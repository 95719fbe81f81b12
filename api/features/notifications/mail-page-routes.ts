import type { Pool } from "pg";
import { SERVICE } from "../../../schemas/contracts/audit-entry.js";
import { Problem } from "../../../schemas/problem.js";
import { insertAuditEntry } from "../../base/access/audit-entries.js";
import { orErrorPage } from "../../web/error-page.js";
import { bareVisit } from "../../web/open-visit.js";
import { readForm } from "../../web/read-form.js";
import { BODY_LIMITS } from "../../base/http/body-limits.js";
import { type ApiContext, type Operation, type PublicRoute, paramOf } from "../../base/http/route.js";
import type { Sealer } from "../../base/identity/tokens.js";
import { inTransaction } from "../../base/postgres/connection.js";
import { type Postgres, query } from "../../base/postgres/query.js";
import { type Agreement, putAgreed, readAgreement } from "./agreements.js";
import {
  type ConfirmationLink,
  type MailLink,
  type UnsubscribeLink,
  readConfirmationLink,
  readUnsubscribeLink,
} from "./mail-links.js";
import { type MailChoice, renderConfirmationPage, renderUnsubscribePage } from "./mail-pages.js";
import { STOP_SCOPES, type StopScope, deleteStops, putStop, readStop } from "./mail-stops.js";
import { notificationTarget, readStoredNotification } from "./notifications.js";

export interface MailPageDeps {
  pg: Pool;
  /** Its kind is "notification-target". */
  sealer: Sealer;
  /** Counts a request by its address. Throws `rate-limited`. */
  limit: (ctx: ApiContext) => Promise<void>;
}

const UNSUBSCRIBE = "/unsubscribe/:notification";
const CONFIRM = "/confirm-address/:agreement";

/**
 * The pages that links in mails open. A GET changes nothing, because mail servers follow links. A POST needs no session,
 * only the token of the mail.
 */
export function mailPageRoutes(deps: MailPageDeps): PublicRoute[] {
  const page = (work: (ctx: ApiContext) => Promise<void>) => (ctx: ApiContext) =>
    orErrorPage(bareVisit(ctx), async () => {
      await deps.limit(ctx);
      await work(ctx);
    });
  return [
    {
      method: "GET",
      path: UNSUBSCRIBE,
      operation: operationOf("getUnsubscribePage", {
        summary: "Get the unsubscribe page",
        parameter: "notification",
      }),
      handle: page((ctx) => showUnsubscribing(ctx, { ...deps, link: unsubscribeLinkOf(ctx, deps) })),
    },
    {
      method: "POST",
      path: UNSUBSCRIBE,
      operation: operationOf("unsubscribe", {
        summary: "Unsubscribe from emails (RFC 8058), or subscribe again",
        parameter: "notification",
      }),
      handle: page(async (ctx) => {
        const link = unsubscribeLinkOf(ctx, deps);
        // Mail programs send `List-Unsubscribe=One-Click`.
        const choice = (await readChoice(ctx, [...STOP_SCOPES, "resume"])) ?? link.oneClick;
        await choose(ctx, { ...deps, link, choice });
        await showUnsubscribing(ctx, { ...deps, link });
      }),
    },
    {
      method: "GET",
      path: CONFIRM,
      operation: operationOf("getConfirmationPage", {
        summary: "Get the confirmation page",
        parameter: "agreement",
      }),
      handle: page((ctx) => showConfirming(ctx, { ...deps, link: confirmationLinkOf(ctx, deps) })),
    },
    {
      method: "POST",
      path: CONFIRM,
      operation: operationOf("confirmAddress", {
        summary: "Confirm an address, or stop emails to it",
        parameter: "agreement",
      }),
      handle: page(async (ctx) => {
        const link = confirmationLinkOf(ctx, deps);
        const choice = await readChoice(ctx, [...STOP_SCOPES, "resume", "confirm"]);
        if (choice === "confirm") await confirm(ctx, { ...deps, link });
        else if (choice !== undefined) await choose(ctx, { ...deps, link, choice });
        await showConfirming(ctx, { ...deps, link });
      }),
    },
  ];
}

type Linked<Link = MailLink> = Pick<MailPageDeps, "pg"> & { link: Link };

function unsubscribeLinkOf(ctx: ApiContext, { sealer }: MailPageDeps): UnsubscribeLink {
  const notificationId = paramOf(ctx, "notification");
  return requireLink(readUnsubscribeLink(sealer, { notificationId, token: String(ctx.query["token"]) }));
}

function confirmationLinkOf(ctx: ApiContext, { sealer }: MailPageDeps): ConfirmationLink {
  const agreementId = paramOf(ctx, "agreement");
  return requireLink(readConfirmationLink(sealer, { agreementId, token: String(ctx.query["token"]) }));
}

function requireLink<Link>(link: Link | undefined): Link {
  if (link === undefined) throw new Problem("not-found", "This link is not valid.");
  return link;
}

async function showUnsubscribing(ctx: ApiContext, { pg, link }: Linked): Promise<void> {
  const owner = await readOwnerName(pg, link.ownerId);
  const stop = await readStop(pg, link);
  renderUnsubscribePage(ctx, { address: link.mailbox, owner, stop });
}

async function showConfirming(ctx: ApiContext, { pg, link }: Linked<ConfirmationLink>): Promise<void> {
  const agreement = await readAgreementOf(pg, link);
  const stop = await readStop(pg, link);
  renderConfirmationPage(ctx, { address: link.mailbox, agreement, stop });
}

/** The agreement that the link is about. */
function readAgreementOf(pg: Postgres, link: ConfirmationLink): Promise<Agreement | undefined> {
  return readAgreement(pg, { id: link.agreementId, messageId: link.messageId });
}

async function readOwnerName(pg: Postgres, ownerId: string): Promise<string | undefined> {
  const text = "select name from owners where id = $1";
  const [row] = await query<{ name: string }>(pg, text, [ownerId]);
  return row?.name;
}

/** One of these, from a form of either type: RFC 8058 allows both. */
async function readChoice<Choice extends MailChoice>(
  ctx: ApiContext,
  choices: readonly Choice[],
): Promise<Choice | undefined> {
  const form = await readForm(ctx, { ...BODY_LIMITS, hasFiles: true });
  return choices.find((each) => each === form.text("choice"));
}

async function confirm(ctx: ApiContext, { pg, link }: Linked<ConfirmationLink>): Promise<void> {
  await inTransaction(pg, async (client) => {
    const agreement = await readAgreementOf(client, link);
    if (agreement?.isOpen !== true || !(await putAgreed(client, agreement.id))) return;
    await record(ctx, client, { link, action: "notifications.confirm-address" });
  });
}

async function choose(
  ctx: ApiContext,
  { pg, link, choice }: Linked & { choice: StopScope | "resume" },
): Promise<void> {
  await inTransaction(pg, async (client) => {
    if (choice === "resume") {
      if (await deleteStops(client, link))
        await record(ctx, client, { link, action: "notifications.subscribe-again" });
    } else if (await putStop(client, link, choice))
      await record(ctx, client, { link, action: "notifications.unsubscribe", scope: choice });
  });
}

interface Recorded {
  link: MailLink;
  action: "notifications.confirm-address" | "notifications.unsubscribe" | "notifications.subscribe-again";
  scope?: StopScope;
}

/** In the log of the owner, if there still is one. */
async function record(ctx: ApiContext, client: Postgres, { link, action, scope }: Recorded): Promise<void> {
  const { ownerId, notificationId: id, mailbox } = link;
  if ((await readOwnerName(client, ownerId)) === undefined) return;
  const stored = await readStoredNotification(client, id);
  await insertAuditEntry(client, {
    ownerId,
    by: SERVICE,
    action,
    target: stored ? notificationTarget(stored) : { kind: "notification", id, name: "email" },
    changes: { receiver: mailbox, ...(scope && { scope }), request_id: ctx.state.requestId },
  });
}

function operationOf(id: string, { summary, parameter }: { summary: string; parameter: string }): Operation {
  const page = (description: string) => ({
    description,
    schema: { type: "string" },
    types: ["text/html"],
  });
  return {
    id,
    tag: "Notifications",
    summary,
    description: "The link is sent by email and contains a token that only the receiver knows.",
    path: { [parameter]: { schema: { type: "string" }, description: `Id of the ${parameter}` } },
    query: {
      token: {
        schema: { type: "string" },
        required: true,
        description: "Token from the email",
      },
    },
    answers: {
      200: page("The page"),
      404: page("The link is not valid"),
      429: page("Too many requests from this IP address"),
      503: page("A database is unavailable"),
    },
  };
}
