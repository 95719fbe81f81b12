import { path } from "../../address.js";
import { page } from "../../page.js";
import { EmptyState } from "../../parts/empty-state.js";

/** `/dashboard` itself leads to the owner that the viewer most likely means. */
export const homePage = page({
  path: "/",
  load({ ctx, user, href }) {
    const [first] = user.organizations;
    ctx.redirect(href(path`/o/${first?.name ?? user.username}`));
  },
  title: () => "Overview",
  render: () => <EmptyState title="On to your overview" />,
});
