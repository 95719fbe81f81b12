import { channel } from "node:diagnostics_channel";

/**
 * The places where dying would hurt an import most, in the order in which it passes them. Each is a diagnostics channel
 * of Node with nobody listening: passing one costs a look at a boolean. The fault tests preload a module that
 * listens, and kills the process or a store just there.
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
  "after-progress",
  "settlement-found",
  "settlement-staged",
  "settlement-applied",
  "settlement-closed",
  "before-done",
] as const;

/**
 * The same for a run of the funnel: between what it announces in one transaction, and around the commit of what was
 * decided of an owner's companies.
 */
export const FUNNEL_FAULT_POINTS = [
  "funnel-announced",
  "funnel-before-commit",
  "funnel-after-commit",
] as const;

/** The same for an attempt to deliver to a webhook. */
export const DELIVERY_FAULT_POINTS = [
  "delivery-before-request",
  "delivery-after-answer",
  "delivery-after-record",
] as const;

export const ALL_FAULT_POINTS = [...FAULT_POINTS, ...FUNNEL_FAULT_POINTS, ...DELIVERY_FAULT_POINTS] as const;

export type FaultPoint = (typeof ALL_FAULT_POINTS)[number];

const CHANNELS = Object.fromEntries(
  ALL_FAULT_POINTS.map((point) => [point, channel(channelOf(point))]),
) as Record<FaultPoint, ReturnType<typeof channel>>;

/** Where fault tests listen. */
export function channelOf(point: FaultPoint): string {
  return `maintainer-toolchain:fault-point:${point}`;
}

/** Does nothing, unless a fault test listens. */
export function passFaultPoint(point: FaultPoint): void {
  const here = CHANNELS[point];
  if (here.hasSubscribers) here.publish(point);
}
