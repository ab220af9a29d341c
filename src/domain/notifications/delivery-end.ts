import type { ChannelState, ChannelTest, Delivery, Told, ToldRange } from './channel-state.ts'

/** Delays before the second to fifth try. */
const RETRY_DELAYS_MS = [5_000, 30_000, 2 * 60_000, 10 * 60_000]
export const TRIES_MAX = RETRY_DELAYS_MS.length + 1
/** Bound for a mail that some members already have: a full mailbox must not hold up the next message to the others. */
export const PARTIAL_TRIES_MAX = 4
/** A service that asks for a longer pause is tried then. */
export const RETRY_AFTER_MS_MAX = 10 * 60_000

/** A message that ended, in the log of its team. */
export interface DeliveryLogEntry {
  /** When it ended; Redis time, Unix ms. */
  readonly atMs: number
  readonly channel: string
  readonly id: string
  readonly state: 'sent' | 'failed'
  readonly answer: string
  readonly tries: number
  /** Alerts that the message told of, by key of the total. */
  readonly ranges: Readonly<Record<string, ToldRange>>
}

/** Result of a try, without the channel's name. */
export interface DeliveryEnd {
  readonly state: ChannelState
  /** When the channel is to be planned next; Redis time, Unix ms. */
  readonly dueMs: number
  /** null = the message is tried again. */
  readonly log: Omit<DeliveryLogEntry, 'channel'> | null
}

export type TryResult =
  | { readonly kind: 'sent'; readonly answer: string }
  | {
      readonly kind: 'failed'
      readonly answer: string
      readonly isFinal: boolean
      readonly retryAfterMs: number | null
      readonly accepted: readonly string[]
    }
  | { readonly kind: 'aborted'; readonly accepted: readonly string[] }

/** One try of a message: who began it is told by these from whoever took over. */
export type TryToken = Pick<Delivery, 'id' | 'tries'>

/** @returns null when somebody else has taken over */
export function endTry(
  state: ChannelState,
  { id, tries }: TryToken,
  { result, nowMs }: { readonly result: TryResult; readonly nowMs: number },
): DeliveryEnd | null {
  const { delivery } = state
  if (delivery?.id !== id || delivery.tries !== tries || delivery.phase !== 'sending') return null
  if (result.kind === 'aborted') {
    // Not a try: whoever sends it next starts at the same count.
    const accepted = [...new Set([...delivery.accepted, ...result.accepted])]
    const waiting = { ...delivery, phase: 'waiting' as const, untilMs: nowMs, tries: tries - 1, accepted }
    return { state: { ...state, delivery: waiting }, dueMs: nowMs, log: null }
  }
  const { answer } = result
  if (result.kind === 'sent') return arrive(state, delivery, { answer, nowMs })
  const accepted = [...new Set([...delivery.accepted, ...result.accepted])]
  const isPartial = accepted.length > 0
  const delayMs = isPartial && tries >= PARTIAL_TRIES_MAX ? undefined : RETRY_DELAYS_MS[tries - 1]
  // A channel that fails already gets one try: the next message tells whether it works again. It does if some mails
  // get through.
  const isStuck = state.failingSinceMs !== null && result.accepted.length === 0
  if (result.isFinal || delayMs === undefined || isStuck) {
    // One member whose address is dead does not make a channel of ten a failing one.
    const end = isPartial ? arrive : giveUp
    return end(state, delivery, { answer, nowMs })
  }
  const untilMs = nowMs + Math.max(delayMs, Math.min(result.retryAfterMs ?? 0, RETRY_AFTER_MS_MAX))
  const waiting = { ...delivery, phase: 'waiting' as const, untilMs, accepted }
  return { state: { ...state, delivery: waiting, lastAnswer: answer }, dueMs: untilMs, log: null }
}

interface Ending {
  readonly answer: string
  readonly nowMs: number
}

function arrive(state: ChannelState, delivery: Delivery, { answer, nowMs }: Ending): DeliveryEnd {
  const { id, tries, ranges } = delivery
  return {
    state: { ...told(state, delivery), lastAnswer: answer, failingSinceMs: null },
    dueMs: nowMs,
    log: { atMs: nowMs, id, answer, tries, ranges, state: 'sent' },
  }
}

/** Gives a message up. Its alerts count as told, and the log says that it failed. */
export function giveUp(state: ChannelState, delivery: Delivery, { answer, nowMs }: Ending): DeliveryEnd {
  const { id, tries, ranges, startedAtMs } = delivery
  return {
    state: {
      ...told(state, delivery),
      lastAnswer: answer,
      failingSinceMs: state.failingSinceMs ?? startedAtMs,
    },
    dueMs: nowMs,
    log: { atMs: nowMs, id, answer, tries, ranges, state: 'failed' },
  }
}

/** A test that got through ends the wait of a message that did not. */
export function endTest(
  state: ChannelState,
  test: ChannelTest,
  { result, nowMs }: { readonly result: TryResult; readonly nowMs: number },
): ChannelState | null {
  if (state.test?.id !== test.id || state.test.result !== null) return null
  if (result.kind === 'aborted') return { ...state, test: { ...state.test, sendingUntilMs: null } }
  const isSent = result.kind === 'sent'
  const works = isSent || result.accepted.length > 0
  const tookMs = Math.max(0, nowMs - test.askedAtMs)
  const { delivery } = state
  return {
    ...state,
    test: { ...state.test, sendingUntilMs: null, result: { isSent, answer: result.answer, tookMs } },
    lastAnswer: result.answer,
    failingSinceMs: works ? null : state.failingSinceMs,
    delivery: works && delivery?.phase === 'waiting' ? { ...delivery, untilMs: nowMs } : delivery,
  }
}

function told(state: ChannelState, { ranges }: Delivery): ChannelState {
  const entries = Object.entries(ranges).map(([key, [born, , to]]): [string, Told] => [key, [born, to]])
  return { ...state, delivery: null, told: { ...state.told, ...Object.fromEntries(entries) } }
}
