import type { NotificationChannel } from "../../../schemas/contracts/notification.js";

export const CHANNEL_LABELS: Record<NotificationChannel, string> = {
  email: "Email",
  slack: "Slack",
  discord: "Discord",
  mattermost: "Mattermost",
  teams: "Teams",
};
