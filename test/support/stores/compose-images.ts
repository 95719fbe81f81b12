import { readFileSync } from "node:fs";
import { parse } from "yaml";

interface Compose {
  services: Record<string, { image: string }>;
}

/** The image that deploy/compose.yaml runs for a store, so that what is tested is what is deployed. */
export function composeImage(service: "kafka" | "postgres" | "clickhouse"): string {
  const text = readFileSync(new URL("../../../deploy/compose.yaml", import.meta.url), "utf8");
  const { services } = parse(text, { merge: true }) as Compose;
  const image = services[service]?.image;
  if (image === undefined) throw new Error(`deploy/compose.yaml names no image for ${service}`);
  return image;
}
