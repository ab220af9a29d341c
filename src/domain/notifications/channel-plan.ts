import type { AlertType } from '../alerts/alert.ts'
import { keyOfTotal, shardOfKey, toldCount, type AlertTotal, type TeamTotals } from './alert-totals.ts'
import type { Channel, ChannelType } from './channel.ts'
import {
  DELIVERY_LEASE_MS,
  isTestOpen,
  type ChannelState,
  type ChannelTest,
  type Thread,
  type Told,
  type ToldRange,
} from './channel-state.ts'
import { giveUp, RETRY_AFTER_MS_MAX, TRIES_MAX, type DeliveryEnd } from './delivery-end.ts'
import { compareSeverity, mostSevereOf } from './severity.ts'
import { DIGEST_EVERY_MS, newestThreads, nextThread, withThreads } from './threads.ts'

/** One resource, type and reason in a message. */
export interface PlannedEntry {
  readonly total: AlertTotal
  readonly count: number
  readonly threadId: string
  readonly isReply: boolean
}

export type ChannelPlan =
  /** Nothing to send. `dueMs`: when to plan again; null = when something is raised. */
  | { readonly kind: 'wait'; readonly state: ChannelState; readonly dueMs: number | null }
  /** A new message, once this state is written. Most severe first, then newest first. */
  | { readonly kind: 'send'; readonly state: ChannelState; readonly entries: readonly PlannedEntry[] }
  /** The message on its way once more. */
  | { readonly kind: 'resend'; readonly state: ChannelState }
  | { readonly kind: 'test'; readonly state: ChannelState; readonly test: ChannelTest }
  /** The message on its way took down whoever sent it, too often. */
  | ({ readonly kind: 'give_up' } & DeliveryEnd)

export interface PlanFacts {
  readonly channel: Channel
  readonly teamTotals: TeamTotals
  /** Version of the team's settings that contain `channel`. */
  readonly settingsVersion: number
  /** Redis time, Unix ms. */
  readonly nowMs: number
  newId(): string
}

const MINUTE_MS = 60_000
/** Messages about single resources. When a channel needs more, one message a minute tells all. */
export const MESSAGES_PER_MINUTE_MAX = 5
/** One of them is kept for failures: what is less severe must not make the first failure wait for a digest. */
const FAILURES_ONLY = 1
/** A channel that fails is tried this often. */
const PROBE_EVERY_MS = 10 * MINUTE_MS

/**
 * Least time between two tries of one channel. Slack allows one a second; Discord 30 a minute, of which some are left
 * to others.
 */
const SPACING_MS: Readonly<Record<ChannelType, number>> = {
  email: 5_000,
  slack: 1_000,
  discord: 2_400,
  webhook: 1_000,
}

/** Decides what a channel is sent now, and else when to look again. The state of a plan differs only if something changed. */
export function planChannel(given: ChannelState, facts: PlanFacts): ChannelPlan {
  const { nowMs, settingsVersion } = facts
  const isEdited = settingsVersion > given.settingsVersion
  const state = isEdited ? afterEdit(given, facts) : given
  if (isTestOpen(state.test, nowMs) && (state.test.sendingUntilMs ?? 0) <= nowMs) {
    const test = { ...state.test, sendingUntilMs: nowMs + DELIVERY_LEASE_MS }
    return { kind: 'test', state: { ...state, test }, test }
  }
  return state.delivery === null ? planMessage(state, facts) : planRetry(state, facts)
}

/** The channel may work now. */
function afterEdit(state: ChannelState, { settingsVersion, nowMs }: PlanFacts): ChannelState {
  const { delivery } = state
  return {
    ...state,
    settingsVersion,
    lastTryAtMs: 0,
    delivery: delivery?.phase === 'waiting' ? { ...delivery, untilMs: nowMs } : delivery,
  }
}

function planRetry(state: ChannelState, { channel, nowMs }: PlanFacts): ChannelPlan {
  const { delivery, lastTryAtMs } = state
  if (delivery === null) throw new Error('there is no message on its way')
  const { untilMs } = delivery
  const atMs =
    delivery.phase === 'sending'
      ? believed(untilMs, { nowMs, aheadMs: DELIVERY_LEASE_MS })
      : Math.max(
          believed(untilMs, { nowMs, aheadMs: RETRY_AFTER_MS_MAX }),
          believed(lastTryAtMs, { nowMs }) + SPACING_MS[channel.type],
        )
  if (nowMs < atMs) return { kind: 'wait', state, dueMs: atMs }
  if (delivery.tries >= TRIES_MAX) {
    return { kind: 'give_up', ...giveUp(state, delivery, { answer: 'No try was reported', nowMs }) }
  }
  const next = {
    ...delivery,
    tries: delivery.tries + 1,
    phase: 'sending' as const,
    untilMs: nowMs + DELIVERY_LEASE_MS,
  }
  return { kind: 'resend', state: { ...state, delivery: next, lastTryAtMs: nowMs } }
}

/** 0 when it lies further ahead than it was ever set: the clock of Redis was set back since. */
function believed(atMs: number, { nowMs, aheadMs = 0 }: { nowMs: number; aheadMs?: number }): number {
  return atMs > nowMs + aheadMs ? 0 : atMs
}

/** Alerts of one resource that the channel has not been told of. */
interface Owed {
  readonly resource: string
  readonly totals: readonly AlertTotal[]
  /** null = no message about its trouble went out. */
  readonly thread: Thread | null
  /** Most severe type among the owed alerts. */
  readonly mostSevere: AlertType
  /** Most severe type of the thread once these are sent. */
  readonly mostSevereAfter: AlertType
  readonly dueMs: number
}

function planMessage(given: ChannelState, facts: PlanFacts): ChannelPlan {
  const { channel, nowMs } = facts
  const kept = withTold(given, facts)
  const heard = facts.teamTotals.totals.filter(({ type }) => channel.alertTypes.includes(type))
  const troubles = [...Map.groupBy(heard, ({ resource }) => resource)]
    .map(([resource, totals]) => ({ resource, totals, owed: totals.filter((total) => isOwed(kept, total)) }))
    .filter(({ owed }) => owed.length > 0)
  const state = withThreads(kept, { owed: new Set(troubles.map(({ resource }) => resource)), nowMs })
  const owed = troubles.map((trouble) => owedOf(state, trouble, nowMs))
  const due = owed.filter(({ dueMs }) => dueMs <= nowMs).toSorted(bySeverity)
  if (due.length === 0) {
    const next = Math.min(...owed.map(({ dueMs }) => dueMs))
    return { kind: 'wait', state, dueMs: next === Infinity ? null : next }
  }
  return planDue(state, due, facts)
}

/** All that the channel hears of one resource, and what of it was not told. */
interface Trouble {
  readonly resource: string
  readonly totals: readonly AlertTotal[]
  readonly owed: readonly AlertTotal[]
}

/** A message that begins, ends or worsens a thread is due at once; the rest waits for the next digest. */
function owedOf(state: ChannelState, { resource, owed }: Trouble, nowMs: number): Owed {
  const thread = state.threads[resource] ?? null
  const types = owed.map(({ type }) => type)
  const mostSevere = mostSevereOf(types) ?? 'recovery'
  const toldSevere = thread?.mostSevere ?? null
  const isWorse = toldSevere === null || compareSeverity(mostSevere, toldSevere) < 0
  const mostSevereAfter = isWorse ? mostSevere : toldSevere
  const isNow = isWorse || types.includes('recovery')
  const digestMs = believed(thread?.nextMs ?? nowMs, { nowMs, aheadMs: DIGEST_EVERY_MS })
  return { resource, totals: owed, thread, mostSevere, mostSevereAfter, dueMs: isNow ? nowMs : digestMs }
}

function isOwed(state: ChannelState, total: AlertTotal): boolean {
  return toldCount(total, state.told[keyOfTotal(total)]) < total.total
}

/** Keeps to the pace of the channel. */
function planDue(state: ChannelState, due: readonly Owed[], facts: PlanFacts): ChannelPlan {
  const { channel, nowMs } = facts
  const isFailing = state.failingSinceMs !== null
  const notBeforeMs =
    believed(state.lastTryAtMs, { nowMs }) + (isFailing ? PROBE_EVERY_MS : SPACING_MS[channel.type])
  if (nowMs < notBeforeMs) return { kind: 'wait', state, dueMs: notBeforeMs }
  const recentMs = state.recentMs.filter((atMs) => isRecent(atMs, nowMs))
  const hasFailure = due[0]?.mostSevere === 'failure'
  const most = MESSAGES_PER_MINUTE_MAX - (hasFailure ? 0 : FAILURES_ONLY)
  const isGathering = state.isGathering || recentMs.length >= most
  const isFirstFailure = hasFailure && !isRecent(state.failureAtMs ?? 0, nowMs) && recentMs.length < most
  const lastMs = recentMs.at(-1)
  if (isGathering && lastMs !== undefined && !isFirstFailure) {
    const waiting = isGathering === state.isGathering ? state : { ...state, isGathering }
    return { kind: 'wait', state: waiting, dueMs: lastMs + MINUTE_MS }
  }
  const told = isGathering || isFailing ? due : due.slice(0, 1)
  return send(
    {
      ...state,
      recentMs: [...recentMs, nowMs],
      isGathering: isGathering && due.length > MESSAGES_PER_MINUTE_MAX,
      ...(hasFailure && { failureAtMs: nowMs }),
    },
    told,
    facts,
  )
}

function isRecent(atMs: number, nowMs: number): boolean {
  return nowMs - MINUTE_MS < atMs && atMs <= nowMs
}

function send(state: ChannelState, owed: readonly Owed[], { nowMs, newId }: PlanFacts): ChannelPlan {
  const threads: Record<string, Thread> = { ...state.threads }
  const ranges: Record<string, ToldRange> = {}
  const entries: PlannedEntry[] = []
  for (const { resource, totals, thread, mostSevereAfter } of owed) {
    const next = nextThread(thread, { mostSevere: mostSevereAfter, nowMs, newId })
    if (isRecovered(totals)) delete threads[resource]
    else threads[resource] = next
    for (const total of totals) {
      const key = keyOfTotal(total)
      const after = toldCount(total, state.told[key])
      ranges[key] = [total.born, after, total.total]
      const count = total.total - after
      entries.push({ total, count, threadId: next.id, isReply: thread !== null })
    }
  }
  const delivery = {
    id: newId(),
    tries: 1,
    startedAtMs: nowMs,
    ranges,
    accepted: [],
    phase: 'sending' as const,
    untilMs: nowMs + DELIVERY_LEASE_MS,
  }
  return {
    kind: 'send',
    state: { ...state, threads: newestThreads(threads), delivery, lastTryAtMs: nowMs },
    entries: entries.toSorted((a, b) => byRank(a.total, b.total)),
  }
}

/** Whether nothing was raised after the recovery. */
function isRecovered(totals: readonly AlertTotal[]): boolean {
  const lastMs = Math.max(...totals.map(({ lastAtMs }) => lastAtMs))
  return totals.some(({ type, lastAtMs }) => type === 'recovery' && lastAtMs === lastMs)
}

/**
 * Types that the channel does not get count as told, so that a change of its types brings no history. Fingerprints that
 * are gone are forgotten.
 */
function withTold(state: ChannelState, { channel, teamTotals }: PlanFacts): ChannelState {
  const known = new Set(teamTotals.totals.map(keyOfTotal))
  const entries = Object.entries(state.told).filter(
    ([key]) => known.has(key) || !teamTotals.shards.has(shardOfKey(key)),
  )
  const skipped = teamTotals.totals.filter((total) => {
    if (channel.alertTypes.includes(total.type)) return false
    const told = state.told[keyOfTotal(total)]
    return told?.[0] !== total.born || told[1] !== total.total
  })
  if (skipped.length === 0 && entries.length === Object.keys(state.told).length) return state
  const told: Record<string, Told> = Object.fromEntries(entries)
  for (const total of skipped) told[keyOfTotal(total)] = [total.born, total.total]
  return { ...state, told }
}

function byRank(a: AlertTotal, b: AlertTotal): number {
  return compareSeverity(a.type, b.type) || b.lastAtMs - a.lastAtMs
}

function bySeverity(a: Owed, b: Owed): number {
  const [first, second] = [a, b].map(({ totals }) => totals.toSorted(byRank)[0])
  return first === undefined || second === undefined ? 0 : byRank(first, second)
}
