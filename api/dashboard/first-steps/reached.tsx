import type { HostReach } from "../../../schemas/contracts/package-routing.js";
import { path } from "../../web/address.js";
import { useVisit } from "../../web/page.js";

interface ReachedProps {
  packageId: string;
  hosts: readonly HostReach[];
}

/** Setup checklist of each host: DNS, TLS, first event. The script asks again until all are done. */
export function Reached({ packageId, hosts }: ReachedProps) {
  const { href, owner } = useVisit();
  return (
    <ul class="reached" data-reach={href(path`/api/v2/packages/${owner.name}/${packageId}/hosts`)}>
      {hosts.map(({ host, dns, tls, fault }) => (
        <li data-host={host}>
          <strong>{host}</strong>
          <State name="dns" label="DNS" isThere={dns} />
          <State name="tls" label="TLS" isThere={tls} />
          <State name="event" label="First event" isThere={false} />
          <span class="soft small" data-fault>
            {fault}
          </span>
        </li>
      ))}
    </ul>
  );
}

/** The script writes the same words. */
function State({ name, label, isThere }: { name: string; label: string; isThere: boolean }) {
  return (
    <span class={isThere ? "badge good" : "badge"} data-state={name}>
      {label} <span>{isThere ? "✓" : "…"}</span>
    </span>
  );
}
