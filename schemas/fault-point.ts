import { channel } from "node:diagnostics_channel";

/**
 * Where a crash could do most harm to an import, in order of processing. Without listeners, passing one costs
 * one check. The fault tests listen, and kill the process or a store there.
 */
export const FAULT_POINTS = [
  "before-append",
  "after-append",
  "before-upload-complete",
  "before-answer",
  "before-range",
  "after-range",
  "before-insert",
  "after-insert",
  "after-sync",
  "after-progress",
  "settlement-found",
  "settlement-staged",
  "settlement-applied",
  "settlement-closed",
  "before-done",
] as const;

export const FUNNEL_FAULT_POINTS = [
  "funnel-announced",
  "funnel-before-commit",
  "funnel-after-commit",
] as const;

export const DELIVERY_FAULT_POINTS = [
  "delivery-before-request",
  "delivery-after-answer",
  "delivery-after-record",
] as const;

export const NOTIFICATION_FAULT_POINTS = [
  "notification-planned",
  "notification-before-send",
  "notification-after-send",
  "notification-after-record",
] as const;

/** Of erasures and dead letters, which no import waits for. */
export const BESIDE_FAULT_POINTS = ["dead-letter-stored", "erasure-noted", "erasure-finished"] as const;

export const ALL_FAULT_POINTS = [
  ...FAULT_POINTS,
  ...FUNNEL_FAULT_POINTS,
  ...DELIVERY_FAULT_POINTS,
  ...NOTIFICATION_FAULT_POINTS,
  ...BESIDE_FAULT_POINTS,
] as const;

export type FaultPoint = (typeof ALL_FAULT_POINTS)[number];

const CHANNELS = Object.fromEntries(
  ALL_FAULT_POINTS.map((point) => [point, channel(channelOf(point))]),
) as Record<FaultPoint, ReturnType<typeof channel>>;

export function channelOf(point: FaultPoint): string {
  return `maintainer-toolchain:fault-point:${point}`;
}

export function passFaultPoint(point: FaultPoint): void {
  const here = CHANNELS[point];
  if (here.hasSubscribers) here.publish(point);
}
