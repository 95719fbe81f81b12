import { resolve } from "node:path";
import type { Config } from "../config/config.js";

/** The first line of a start, which takes seconds: `Starting PostgreSQL and ClickHouse in /srv/data, ...`. */
export function startingLine({ databaseUrl, clickhouseUrl, kafka, dataDir }: Config): string {
  const stores = [
    { name: "PostgreSQL", isEmbedded: databaseUrl === undefined },
    { name: "ClickHouse", isEmbedded: clickhouseUrl === undefined },
    { name: kafka === undefined ? "the event log" : "Kafka", isEmbedded: kafka === undefined },
  ];
  const own = listed(stores.filter(({ isEmbedded }) => isEmbedded));
  const others = listed(stores.filter(({ isEmbedded }) => !isEmbedded));
  const started = own === "" ? [] : [`starting ${own} in ${resolve(dataDir)}`];
  const connected = others === "" ? [] : [`connecting to ${others}`];
  const sentence = [...started, ...connected].join(", ");
  return `${sentence.charAt(0).toUpperCase()}${sentence.slice(1)} ...`;
}

function listed(stores: readonly { name: string }[]): string {
  const names = stores.map(({ name }) => name);
  return names.length < 2 ? names.join("") : `${names.slice(0, -1).join(", ")} and ${names.at(-1) ?? ""}`;
}
