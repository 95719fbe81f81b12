import type { ComponentChildren } from "preact";
import { renderPage } from "../../web/layout.js";
import { bareVisit } from "../../web/open-visit.js";
import { PageHead } from "../../web/parts/panel.js";
import type { ApiContext } from "../../base/http/route.js";
import type { Agreement } from "./agreements.js";
import type { StopScope } from "./mail-stops.js";

/** What a receiver chooses on a page: `resume` ends every stop that applies to the mail. */
export type MailChoice = StopScope | "resume" | "confirm";

interface Unsubscribing {
  address: string;
  /** Undefined once it is removed. */
  owner: string | undefined;
  stop: StopScope | undefined;
}

export function renderUnsubscribePage(ctx: ApiContext, { address, owner, stop }: Unsubscribing): void {
  const about = owner === undefined ? "" : ` about ${owner}`;
  if (stop !== undefined) return renderStopped(ctx, { address, owner, stop });
  show(
    ctx,
    "Unsubscribe",
    `${address} receives emails${about} from this service. Choose which emails to stop.`,
    <Choices>
      {owner !== undefined && <Choice choice="owner">Stop all emails about {owner}</Choice>}
      <Choice choice="service">Stop all emails from this service</Choice>
    </Choices>,
  );
}

interface Confirming {
  address: string;
  agreement: Agreement | undefined;
  stop: StopScope | undefined;
}

export function renderConfirmationPage(ctx: ApiContext, { address, agreement, stop }: Confirming): void {
  if (stop !== undefined) return renderStopped(ctx, { address, owner: agreement?.owner, stop });
  const never = <Choice choice="service">Never send me emails from this service</Choice>;
  if (agreement === undefined || (!agreement.isAgreed && !agreement.isOpen))
    return show(
      ctx,
      "This link has expired",
      `${address} is not confirmed and receives no emails. The sender can send a new confirmation email.`,
      <Choices>{never}</Choices>,
    );
  const { owner, asker, isAgreed } = agreement;
  if (isAgreed)
    return show(
      ctx,
      "Address confirmed",
      `${address} will now receive statistics and alerts about ${owner}. Every email has an unsubscribe link.`,
      <Choices>
        <Choice choice="owner">Stop all emails about {owner}</Choice>
        {never}
      </Choices>,
    );
  show(
    ctx,
    "Confirm this address",
    `"${asker}" wants to send statistics and alerts about "${owner}" to ${address}. Nothing is sent unless ` +
      "you confirm.",
    <Choices>
      <Choice choice="confirm">Confirm</Choice>
      {never}
    </Choices>,
  );
}

interface Stopped {
  address: string;
  owner: string | undefined;
  stop: StopScope;
}

function renderStopped(ctx: ApiContext, { address, owner = "this owner", stop }: Stopped): void {
  const ended = {
    owner: `emails about ${owner}`,
    service: "emails from this service",
  };
  const wider = stop !== "service" && <Choice choice="service">Stop all emails from this service</Choice>;
  show(
    ctx,
    "You are unsubscribed",
    `${address} no longer receives ${ended[stop]}. Only you can undo this.`,
    <Choices>
      {wider}
      <Choice choice="resume">Undo</Choice>
    </Choices>,
  );
}

function show(ctx: ApiContext, title: string, about: string, content: ComponentChildren): void {
  ctx.status = 200;
  renderPage(bareVisit(ctx), {
    title,
    content: (
      <>
        <PageHead title={title} about={<bdi>{about}</bdi>} />
        {content}
      </>
    ),
  });
}

function Choices({ children }: { children: ComponentChildren }) {
  return (
    <form method="post" class="form">
      {children}
    </form>
  );
}

function Choice({ choice, children }: { choice: MailChoice; children: ComponentChildren }) {
  const kind = choice === "confirm" ? "primary" : "plain";
  return (
    <button type="submit" class={kind} name="choice" value={choice}>
      {children}
    </button>
  );
}
