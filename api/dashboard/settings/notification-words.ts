import type { NotificationEvent } from "../../../schemas/contracts/notification-event.js";
import type { NotificationChannel } from "../../../schemas/contracts/notification.js";

export const EVENT_WORDS: Record<NotificationEvent, string> = {
  "weekly-digest": "Weekly digest",
  "monthly-digest": "Monthly digest",
  "new-companies": "New companies",
  "downloads-changed": "Unusual downloads",
  "import-failed": "Failed imports",
  "webhook-disabled": "Disabled webhooks",
  "source-failed": "Failed registry counts",
};

export const CHANNEL_WORDS: Record<NotificationChannel, string> = {
  email: "Email",
  slack: "Slack",
  discord: "Discord",
  mattermost: "Mattermost",
  teams: "Teams",
};
