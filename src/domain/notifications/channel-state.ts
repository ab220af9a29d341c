import type { AlertType } from '../alerts/alert.ts'
import { CHANNEL_TEST_TIMEOUT_MS, DELIVERY_TIMEOUT_MS } from '../limits.ts'

/** A lease outlasts a try by this much: for the writes around it, and for clocks that differ. */
const LEASE_MARGIN_MS = 5_000
/** How long one executor has a channel to itself; then another sends the same message. */
export const DELIVERY_LEASE_MS = DELIVERY_TIMEOUT_MS + LEASE_MARGIN_MS

/** `[born, total]`: how many alerts of a fingerprint a channel was told of, since that fingerprint was made. */
export type Told = readonly [born: number, total: number]
/** `[born, after, to]`: the alerts of a fingerprint that one message tells of, counted from 1: `after + 1` to `to`. */
export type ToldRange = readonly [born: number, after: number, to: number]

/** The messages about one trouble of one resource. */
export interface Thread {
  readonly id: string
  readonly startedAtMs: number
  readonly lastMessageAtMs: number
  /** The next digest comes no earlier. */
  readonly nextMs: number
  /** Time since which alerts wait for that digest, as far as it was seen; null = none do. */
  readonly owedSinceMs: number | null
  /** The most severe type that its messages told of. */
  readonly mostSevere: AlertType
}

/** A message that is on its way. */
export interface Delivery {
  readonly id: string
  /** Begun, 1 or more. */
  readonly tries: number
  readonly startedAtMs: number
  readonly phase: 'sending' | 'waiting'
  /** End of the lease while `sending`, next try while `waiting`. */
  readonly untilMs: number
  /** Alerts that the message tells of, by key of the total. */
  readonly ranges: Readonly<Record<string, ToldRange>>
  /** Addresses that have it already. */
  readonly accepted: readonly string[]
}

/** A test message that somebody asked for. */
export interface ChannelTest {
  readonly id: string
  readonly askedAtMs: number
  /** The end of the lease of the executor that sends it; null = none does yet. */
  readonly sendingUntilMs: number | null
  /** null while it is open. */
  readonly result: { readonly isSent: boolean; readonly answer: string; readonly tookMs: number } | null
}

/** All that is kept of a channel, beside the message on its way. Times are Redis time, Unix ms. */
export interface ChannelState {
  /** The team's settings that it was last planned with: an edit ends the wait for the next try. */
  readonly settingsVersion: number
  /** Alerts that the channel was told of, by key of the total. */
  readonly told: Readonly<Record<string, Told>>
  /** Threads by resource. */
  readonly threads: Readonly<Record<string, Thread>>
  /** Starts of messages within the last minute; at most MESSAGES_PER_MINUTE_MAX. */
  readonly recentMs: readonly number[]
  /** There was more to tell than that: one message a minute tells all. */
  readonly isGathering: boolean
  /** Start of the last message that told of a failure; absent when there was none. */
  readonly failureAtMs?: number
  /** 0 = never. */
  readonly lastTryAtMs: number
  readonly delivery: Delivery | null
  readonly test: ChannelTest | null
  /** Start of the first message that was given up with none sent since; null = not failing. */
  readonly failingSinceMs: number | null
  /** Answer to the last try. */
  readonly lastAnswer: string | null
}

/** State of a new channel: it is not told what was raised before. */
export function newChannelState(told: Readonly<Record<string, Told>>, settingsVersion: number): ChannelState {
  return {
    settingsVersion,
    told,
    threads: {},
    recentMs: [],
    isGathering: false,
    lastTryAtMs: 0,
    delivery: null,
    test: null,
    failingSinceMs: null,
    lastAnswer: null,
  }
}

/** Whether somebody still waits for its result. */
export function isTestOpen(test: ChannelTest | null, nowMs: number): test is ChannelTest {
  return test !== null && test.result === null && nowMs < test.askedAtMs + CHANNEL_TEST_TIMEOUT_MS
}
