import { createHmac, timingSafeEqual } from "node:crypto";
import { Webhook } from "standardwebhooks";
import type { Stage } from "../../../schemas/records/funnel.js";
import type { Received } from "./receivers.js";

/** The body of a `company-funnel-stage-changed` event, as the specification has it. */
export interface Announcement {
  id: string;
  type: string;
  owner: string;
  created_at: string;
  data: { companies: AnnouncedCompany[] };
}

export interface AnnouncedCompany {
  domain: string;
  name: string;
  old_stage?: Stage;
  new_stage: Stage;
}

/** Reads what came to a receiver after it has verified both of its signatures; throws what is wrong with them. */
export function readAnnouncement({ headers, body }: Received, secret: string): Announcement {
  new Webhook(secret).verify(body, headers as Record<string, string>);
  verifyServiceSignature(String(headers["x-service-signature"]), { body, secret });
  return JSON.parse(body.toString()) as Announcement;
}

const TOLERANCE_S = 300;

/** The steps of the specification. */
function verifyServiceSignature(header: string, { body, secret }: { body: Buffer; secret: string }): void {
  const [, t = "", v1 = ""] = /^t=(\d+),v1=([0-9a-f]{64})$/.exec(header) ?? [];
  const digest = createHmac("sha256", secret).update(`${t}.`).update(body).digest();
  const given = Buffer.from(v1, "hex");
  if (given.length !== digest.length || !timingSafeEqual(given, digest))
    throw new Error(`X-Service-Signature ${header} does not sign the body`);
  if (Math.abs(Date.now() / 1000 - Number(t)) > TOLERANCE_S)
    throw new Error(`X-Service-Signature ${header} is not of now`);
}
