import type { LiveEvent, LiveEvents } from "../../schemas/contracts/live-event.js";
import { LIVE_PARTS, livePartsOf } from "../web/script/live-parts.js";
import { path } from "../web/address.js";
import { page, useVisit } from "../web/page.js";
import { countryName } from "../web/parts/format.js";
import { PageHead } from "../web/parts/panel.js";
import { linkWith } from "../web/statistics/view-state.js";

/** Events as they arrive. The script adds new ones; without it the page has the last events and a link to refresh. */
export const livePage = page<LiveEvents>({
  path: "/o/:owner/live",
  section: "live",
  load: ({ api, owner }) => api<LiveEvents>({ path: path`/v2/${owner.name}/live` }),
  title: (_, { owner }) => `Live · ${owner.name}`,
  render: ({ events }) => <Live events={events} />,
});

function Live({ events }: LiveEvents) {
  const visit = useVisit();
  const { href, owner } = visit;
  return (
    <section class="live" data-live={href(path`/api/v2/${owner.name}/live/stream`)}>
      <PageHead
        title="Live"
        about={
          <span role="status" data-live-state>
            Events of the last hour, newest first.
          </span>
        }
      >
        <button type="button" data-live-pause hidden>
          Pause
        </button>
        <button type="button" data-live-wide hidden>
          Full screen
        </button>
        <a class="button" href={linkWith(visit, {})} data-live-reload>
          Refresh
        </a>
      </PageHead>
      <div class="heads" aria-hidden="true">
        {HEADS.map((head) => (
          <span>{head}</span>
        ))}
      </div>
      <ol data-live-list>
        {events.map((event) => (
          <Row event={event} />
        ))}
      </ol>
      <p class="none" data-live-none hidden={events.length > 0}>
        No events in the last hour. Downloads and page views appear here as they happen.
      </p>
      <template data-live-row>
        <Row />
      </template>
    </section>
  );
}

/** The script fills the same parts. */
function Row({ event }: { event?: LiveEvent }) {
  const parts = event && livePartsOf(event, countryName);
  return (
    <li data-id={event?.id}>
      {LIVE_PARTS.map((part) => (
        <span class={part} data-part={part}>
          {parts?.[part]}
        </span>
      ))}
    </li>
  );
}

const HEADS = ["Time (UTC)", "Country", "Package or pixel", "Version", "Client", "Company"];
