import type { AlertType } from '../../../../src/domain/alerts/alert.ts'
import {
  toldOf,
  type AlertTotal,
  type TeamTotals,
} from '../../../../src/domain/notifications/alert-totals.ts'
import type { Channel } from '../../../../src/domain/notifications/channel.ts'
import { planChannel, type PlannedEntry } from '../../../../src/domain/notifications/channel-plan.ts'
import { newChannelState } from '../../../../src/domain/notifications/channel-state.ts'
import {
  endTry,
  type DeliveryLogEntry,
  type TryResult,
} from '../../../../src/domain/notifications/delivery-end.ts'

export const SECOND = 1_000
export const MINUTE = 60_000
const START_MS = 1_800_000_000_000

export const SENT: TryResult = { kind: 'sent', answer: 'ok' }
export function failed(change: Partial<Extract<TryResult, { kind: 'failed' }>> = {}): TryResult {
  return { kind: 'failed', answer: 'no', isFinal: false, retryAfterMs: null, accepted: [], ...change }
}

export interface ToldMessage {
  /** Since the start. */
  readonly atMs: number
  readonly id: string
  readonly isAgain: boolean
  readonly entries: readonly PlannedEntry[]
}

/** One channel, planned as notifiers plan it: whenever it is due, and at once when something is raised. */
export class ChannelStage {
  readonly messages: ToldMessage[] = []
  readonly log: Array<Omit<DeliveryLogEntry, 'channel'>> = []
  readonly #totals = new Map<string, AlertTotal>()
  readonly channel: Channel
  nowMs = START_MS
  dueMs: number | null = null
  settingsVersion = 1
  state = newChannelState({}, 1)
  /** How a try ends; null = the executor dies in it. */
  answer: () => TryResult | null = () => SENT
  #ids = 0

  constructor(change: Partial<Channel> = {}) {
    const alertTypes: AlertType[] = ['failure', 'recovery', 'limit_warning']
    this.channel = { name: 'c', type: 'slack', alertTypes, url: null, ...change }
  }

  /** As a channel that is made only now. */
  startHere(): void {
    this.state = newChannelState(toldOf(this.#all), 1)
  }

  raise(
    resource: string,
    { type = 'failure', count = 1, born = 1 }: { type?: AlertType; count?: number; born?: number } = {},
  ): void {
    const fingerprint = `${type}|timeout|${resource}`
    const former = this.#totals.get(fingerprint)
    const total = (former?.born === born ? former.total : 0) + count
    const shared = { shard: 0, fingerprint, type, resource, born, total }
    this.#totals.set(fingerprint, { ...shared, newestId: this.nowMs, lastAtMs: this.nowMs })
    this.dueMs = this.nowMs
    this.#work()
  }

  /** Time passes. */
  advance(ms: number): void {
    const untilMs = this.nowMs + ms
    while (this.dueMs !== null && this.dueMs <= untilMs) {
      this.nowMs = Math.max(this.nowMs, this.dueMs)
      this.#work()
    }
    this.nowMs = untilMs
  }

  /** Of all alerts that messages told of. */
  get told(): number {
    const first = this.messages.filter(({ isAgain }) => !isAgain)
    return first.flatMap(({ entries }) => entries).reduce((sum, { count }) => sum + count, 0)
  }

  get times(): number[] {
    return this.messages.map(({ atMs }) => atMs)
  }

  get #all(): TeamTotals {
    return { totals: [...this.#totals.values()], shards: new Set([0]) }
  }

  #work(): void {
    const plan = planChannel(this.state, {
      channel: this.channel,
      teamTotals: this.#all,
      nowMs: this.nowMs,
      settingsVersion: this.settingsVersion,
      newId: () => `id${(this.#ids += 1)}`,
    })
    this.state = plan.state
    if (plan.kind === 'wait') {
      if (plan.dueMs !== null && plan.dueMs <= this.nowMs) throw new Error('it waits for the past')
      this.dueMs = plan.dueMs
      return
    }
    if (plan.kind === 'give_up') {
      this.dueMs = plan.dueMs
      if (plan.log !== null) this.log.push(plan.log)
      return
    }
    const { delivery } = plan.state
    if (delivery === null) throw new Error('a test')
    this.messages.push({
      atMs: this.nowMs - START_MS,
      id: delivery.id,
      isAgain: plan.kind === 'resend',
      entries: plan.kind === 'send' ? plan.entries : [],
    })
    this.dueMs = delivery.untilMs
    const result = this.answer()
    const end = result === null ? null : endTry(this.state, delivery, { result, nowMs: this.nowMs })
    if (end === null) return
    this.state = end.state
    this.dueMs = end.dueMs
    if (end.log !== null) this.log.push(end.log)
  }
}
