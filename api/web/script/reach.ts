import { poll } from "./poll.js";

interface Reached {
  hosts: { host: string; dns: boolean; tls: boolean; fault?: string }[];
}

/** The service looks at a host no more often. */
const EVERY_MS = 10_000;

/** Marks DNS and TLS of each host of the first steps as soon as they are there. */
export function awaitHosts(): void {
  const list = document.querySelector<HTMLElement>("[data-reach]");
  if (list === null) return;
  const isDone = ({ hosts }: Reached) => {
    for (const reached of hosts) show(list, reached);
    return hosts.every(({ dns, tls }) => dns && tls);
  };
  void poll(list.dataset["reach"] ?? "", { everyMs: EVERY_MS, isDone });
}

function show(list: HTMLElement, { host, fault, ...states }: Reached["hosts"][number]): void {
  const item = list.querySelector(`[data-host="${CSS.escape(host)}"]`);
  for (const [name, isThere] of Object.entries(states)) {
    const badge = item?.querySelector(`[data-state="${name}"]`);
    badge?.classList.toggle("good", isThere);
    badge?.lastElementChild?.replaceChildren(isThere ? "✓" : "…");
  }
  item?.querySelector("[data-fault]")?.replaceChildren(fault ?? "");
}
