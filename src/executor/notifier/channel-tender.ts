import { reasonOf } from '../../domain/errors.ts'
import type { Channel } from '../../domain/notifications/channel.ts'
import type { ChannelTest, Delivery } from '../../domain/notifications/channel-state.ts'
import { planChannel, type ChannelPlan } from '../../domain/notifications/channel-plan.ts'
import { endTest, endTry, giveUp, type TryToken } from '../../domain/notifications/delivery-end.ts'
import { pause } from '../../domain/pause.ts'
import type { Metrics } from '../../ports/metrics.ts'
import type {
  ChannelSnapshot,
  ChannelRef,
  ChannelSender,
  ChannelWrite,
  DeliveryResult,
  Notification,
  NotificationBoard,
} from '../../ports/notifications.ts'
import type { Runtime } from '../../ports/runtime.ts'
import type { TeamSettings } from '../../ports/settings.ts'
import type { TakePlace } from './due-channels.ts'
import { composeNotification, composeTest } from './notification-composer.ts'

export interface ChannelTenderOptions extends Runtime {
  readonly board: NotificationBoard
  readonly sender: ChannelSender
  readonly metrics: Metrics
  newId(): string
  /** 0–1. */
  random(): number
}

/** A channel to tend, and the means for it. */
export interface Tending {
  readonly ref: ChannelRef
  readonly settings: TeamSettings
  readonly takePlace: TakePlace
  readonly signal: AbortSignal
}

/** Writes of one result: a channel changes seldom in between, and Redis may be away for a moment. */
const REPORT_TRIES_MAX = 10
const REPORT_PAUSE_MS = 500
/** A channel in trouble that finds no place is looked at again after this long, and up to as much more. */
const POSTPONE_MS = 5_000
/** Pause after a defect of ours. */
const DEFECT_PAUSE_MS = 60_000
/** Time to catch up with settings another executor has read. */
const SETTINGS_LAG_MS = 3_000

const NO_TOTALS = Object.freeze({ totals: [], shards: new Set<number>() })

export type Tended = 'done' | 'unknown' | 'no_place'

/**
 * Looks at a channel that is due, and sends what it owes. The record of the channel in Redis is the lock: what is sent was
 * written before, and whoever dies after it leaves a lease that runs out.
 *
 * @returns `unknown` when the channel is not kept, `no_place` when it has something to send and none is free
 */
export async function tendChannel(options: ChannelTenderOptions, tending: Tending): Promise<Tended> {
  const { board, newId } = options
  const { ref, settings } = tending
  const snapshot = await board.snapshot(ref)
  if (snapshot === null) return 'unknown'
  const channel = settings.channels.find(({ name }) => name === ref.channel)
  if (channel === undefined) {
    // Whoever has later settings may know it.
    const dueMs = snapshot.state.settingsVersion > settings.version ? snapshot.nowMs + SETTINGS_LAG_MS : null
    await board.write(snapshot, { state: snapshot.state, message: snapshot.message, dueMs })
    return 'done'
  }
  const { nowMs } = snapshot
  const teamTotals = snapshot.state.delivery === null ? await board.totals(ref.team) : NO_TOTALS
  const facts = { channel, teamTotals, nowMs, settingsVersion: settings.version, newId }
  return carryOut(options, { ...tending, channel, snapshot }, planChannel(snapshot.state, facts))
}

interface Case extends Tending {
  readonly channel: Channel
  readonly snapshot: ChannelSnapshot
}

async function carryOut(options: ChannelTenderOptions, at: Case, plan: ChannelPlan): Promise<Tended> {
  const { board } = options
  const { snapshot } = at
  if (plan.kind === 'wait') {
    await board.write(snapshot, { state: plan.state, message: snapshot.message, dueMs: plan.dueMs })
  } else if (plan.kind === 'give_up') {
    await writeEnd(options, at, { end: plan, how: 'write' })
  } else {
    const isLast = plan.kind !== 'test' && isTroubled(snapshot)
    if (at.takePlace(isLast)) await sendPlanned(options, at, plan)
    else if (isLast) await postpone(options, at)
    else return 'no_place'
  }
  return 'done'
}

async function sendPlanned(
  options: ChannelTenderOptions,
  at: Case,
  plan: Extract<ChannelPlan, { kind: 'test' | 'resend' | 'send' }>,
): Promise<void> {
  if (plan.kind === 'test') await sendTest(options, at, plan)
  else if (plan.kind === 'resend') await resend(options, at, plan)
  else await sendNew(options, at, plan)
}

async function postpone({ board, random }: ChannelTenderOptions, { snapshot }: Case): Promise<void> {
  const dueMs = snapshot.nowMs + Math.round(POSTPONE_MS * (1 + random()))
  await board.write(snapshot, { state: snapshot.state, message: snapshot.message, dueMs })
}

function isTroubled({ state }: ChannelSnapshot): boolean {
  return state.failingSinceMs !== null || state.delivery !== null
}

async function sendNew(
  options: ChannelTenderOptions,
  at: Case,
  { state, entries: planned }: Extract<ChannelPlan, { kind: 'send' }>,
): Promise<void> {
  const { board } = options
  const { snapshot } = at
  const delivery = deliveryOf(state)
  const message = await composeNotification(board, snapshot, { id: delivery.id, planned })
  if (message === null) {
    // Somebody deleted the alerts: there is nothing left to tell.
    const end = giveUp(snapshot.state, delivery, { answer: '', nowMs: snapshot.nowMs })
    const { failingSinceMs, lastAnswer } = snapshot.state
    await board.write(snapshot, {
      state: { ...end.state, failingSinceMs, lastAnswer },
      message: null,
      dueMs: end.dueMs,
    })
    return
  }
  if (!(await board.write(snapshot, { state, message, dueMs: delivery.untilMs }))) return
  await deliver(options, at, { message, delivery })
}

async function resend(
  options: ChannelTenderOptions,
  at: Case,
  { state }: Extract<ChannelPlan, { kind: 'resend' }>,
): Promise<void> {
  const { snapshot } = at
  const delivery = deliveryOf(state)
  const { message } = snapshot
  if (message === null) {
    const end = giveUp(snapshot.state, delivery, { answer: 'The message is lost', nowMs: snapshot.nowMs })
    await writeEnd(options, at, { end, how: 'write' })
    return
  }
  if (!(await options.board.write(snapshot, { state, message, dueMs: delivery.untilMs }))) return
  await deliver(options, at, { message, delivery })
}

function deliveryOf({ delivery }: ChannelPlan['state']): Delivery {
  if (delivery === null) throw new Error('a plan to send has no delivery')
  return delivery
}

async function deliver(
  options: ChannelTenderOptions,
  at: Case,
  { message, delivery }: { readonly message: Notification; readonly delivery: Delivery },
): Promise<void> {
  const result = await send(options, at, { message, accepted: delivery.accepted })
  await report(options, at, {
    what: 'message',
    write: (snapshot) => writeTry(options, { ...at, snapshot }, { token: delivery, result }),
  })
}

/** Answers whether it is written, or is no longer ours to write. */
async function writeTry(
  options: ChannelTenderOptions,
  at: Case,
  { token, result }: { readonly token: TryToken; readonly result: DeliveryResult },
): Promise<boolean> {
  const { metrics, logger } = options
  const { snapshot, channel, ref } = at
  const end = endTry(snapshot.state, token, { result, nowMs: snapshot.nowMs })
  if (end === null) {
    metrics.notificationTried(channel.type, 'stale')
    return true
  }
  if (end.log !== null || result.kind === 'sent') return writeEnd(options, at, { end, how: 'report' })
  const change = { state: end.state, message: snapshot.message, dueMs: end.dueMs }
  if (!(await options.board.report(snapshot, change))) return false
  metrics.notificationTried(channel.type, result.kind === 'aborted' ? 'aborted' : 'retrying')
  if (result.kind === 'failed') {
    logger.debug('A notification could not be sent and is tried again', { ...ref, answer: result.answer })
  }
  return true
}

/** Writes the end of a message. False = somebody was faster. */
async function writeEnd(
  { board, metrics, logger }: ChannelTenderOptions,
  { snapshot, channel, ref }: Case,
  { end, how }: { readonly end: ReturnType<typeof giveUp>; readonly how: 'write' | 'report' },
): Promise<boolean> {
  const log = end.log === null ? {} : { log: { ...end.log, channel: channel.name } }
  const change: ChannelWrite = { state: end.state, message: null, dueMs: end.dueMs, ...log }
  if (!(await board[how](snapshot, change))) return false
  const isFailed = end.log?.state === 'failed'
  metrics.notificationTried(channel.type, isFailed ? 'failed' : 'sent')
  if (!isFailed) {
    if (snapshot.state.failingSinceMs !== null) logger.info('A channel works again', { ...ref })
    return true
  }
  const isNew = snapshot.state.failingSinceMs === null
  if (isNew) metrics.channelFailed(channel.type)
  logger[isNew ? 'warn' : 'debug']('A notification was given up', {
    ...ref,
    type: channel.type,
    tries: end.log?.tries,
    answer: end.log?.answer,
  })
  return true
}

async function sendTest(
  options: ChannelTenderOptions,
  at: Case,
  { state, test }: { readonly state: ChannelPlan['state']; readonly test: ChannelTest },
): Promise<void> {
  const { board } = options
  const { snapshot } = at
  const isMine = await board.write(snapshot, { state, message: snapshot.message, dueMs: test.sendingUntilMs })
  if (!isMine) return
  const result = await send(options, at, { message: composeTest(snapshot, test), accepted: [] })
  await report(options, at, {
    what: 'test',
    write: (now) => {
      const after = endTest(now.state, test, { result, nowMs: now.nowMs })
      if (after === null) return Promise.resolve(true)
      return board.report(now, { state: after, message: now.message, dueMs: now.nowMs })
    },
  })
}

async function send(
  { sender }: ChannelTenderOptions,
  { snapshot, channel, settings, signal }: Case,
  { message, accepted }: { readonly message: Notification; readonly accepted: readonly string[] },
): Promise<DeliveryResult> {
  const members = channel.type === 'email' ? settings.members : []
  try {
    return await sender.send(
      {
        channel,
        notification: message,
        settings,
        recipients: members.filter(({ email }) => !accepted.includes(email)),
        timestampSeconds: Math.floor(snapshot.nowMs / 1000),
      },
      signal,
    )
  } catch (error) {
    return { kind: 'failed', answer: defectAnswer(error), isFinal: false, retryAfterMs: null, accepted: [] }
  }
}

function defectAnswer(defect: unknown): string {
  return `Punctual could not make the message: ${reasonOf(defect)}`
}

/**
 * A channel over which our own code throws counts as failing, with what it threw as its answer, and is looked at again
 * after a pause: a version to come may not throw.
 */
export async function markFailing(
  { board }: Pick<ChannelTenderOptions, 'board'>,
  ref: ChannelRef,
  defect: unknown,
): Promise<void> {
  const snapshot = await board.snapshot(ref)
  if (snapshot === null) return
  const { state, message, nowMs } = snapshot
  await board.write(snapshot, {
    state: { ...state, failingSinceMs: state.failingSinceMs ?? nowMs, lastAnswer: defectAnswer(defect) },
    message,
    dueMs: nowMs + DEFECT_PAUSE_MS,
  })
}

/** Writes a result on what the channel is by now. What cannot be written in time, another finds when the lease ends. */
async function report(
  { board, clock, logger }: ChannelTenderOptions,
  { ref }: Case,
  { what, write }: { readonly what: string; write(snapshot: ChannelSnapshot): Promise<boolean> },
): Promise<void> {
  let reason = 'it changes all the time'
  for (let tries = 0; tries < REPORT_TRIES_MAX; tries += 1) {
    try {
      const snapshot = await board.snapshot(ref)
      if (snapshot === null || (await write(snapshot))) return
    } catch (error) {
      reason = reasonOf(error)
    }
    await pause(clock, REPORT_PAUSE_MS)
  }
  logger.warn('The result of a notification could not be stored; it may be sent again', {
    ...ref,
    what,
    reason,
  })
}
