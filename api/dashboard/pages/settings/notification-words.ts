import type { NotificationEvent } from "../../../../schemas/contracts/notification-data.js";
import type { NotificationChannel } from "../../../../schemas/contracts/notification.js";

export const EVENT_WORDS: Record<NotificationEvent, string> = {
  "weekly-digest": "Every week: its numbers",
  "monthly-digest": "Every month: its numbers",
  "new-companies": "New companies on a day",
  "downloads-changed": "A day with unusual downloads",
  "import-failed": "An import that breaks off or refuses lines",
  "webhook-disabled": "A webhook that is disabled",
  "source-failed": "A registry that cannot be asked",
};

export const CHANNEL_WORDS: Record<NotificationChannel, string> = {
  email: "e-mail",
  slack: "Slack",
  discord: "Discord",
  mattermost: "Mattermost",
  teams: "Teams",
};
