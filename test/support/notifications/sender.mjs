// The worker of notifications alone, in a process that tests can kill. Its stores and its server are in its variables.
import pg from "pg";
import { createSealer } from "../../../dist/api/base/identity/tokens.js";
import { startNotifications } from "../../../dist/api/features/notifications/start-notifications.js";
import { createGuard } from "../../../dist/api/base/outbound/guard-address.js";
import { createMailer } from "../../../dist/deploy/stores/create-mailer.js";

const { POSTGRES_URL, SMTP_URL, SECRET_KEY } = process.env;
startNotifications({
  pg: new pg.Pool({ connectionString: POSTGRES_URL, max: 4 }),
  guard: createGuard({ allowPrivateNetworks: true }),
  sealer: createSealer(Buffer.from(SECRET_KEY, "base64"), "notification-target"),
  sendMail: createMailer({ url: SMTP_URL, from: "stats@acme.example" }),
  linkBase: () => "https://stats.acme.example",
  onFailure: (error) => console.error(error),
  everyMs: 20,
});
