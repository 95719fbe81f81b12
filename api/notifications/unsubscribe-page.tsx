import { renderPage } from "../dashboard/layout.js";
import { bareVisit } from "../dashboard/open-visit.js";
import { PageHead } from "../dashboard/parts/panel.js";
import type { ApiContext } from "../http/route.js";
import type { StoredNotification } from "./notifications.js";

/** Asks, or says that the mails have ended. */
export function renderUnsubscribePage(
  ctx: ApiContext,
  { enabled, owner, targetShown }: StoredNotification,
): void {
  ctx.status = 200;
  const title = enabled ? "Unsubscribe" : "You are unsubscribed";
  const content = enabled ? (
    <>
      <PageHead title={title} about={`${targetShown} gets mails about ${owner} from here.`} />
      <form method="post" class="form">
        <input type="hidden" name="List-Unsubscribe" value="One-Click" />
        <button type="submit" class="primary">
          End these mails
        </button>
      </form>
    </>
  ) : (
    <PageHead
      title={title}
      about={`${targetShown} gets no more of these mails about ${owner}. Who manages ${owner} can turn them on again.`}
    />
  );
  renderPage(bareVisit(ctx), { title, content });
}
