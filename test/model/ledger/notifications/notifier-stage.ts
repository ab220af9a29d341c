import type { Channel } from '../../../../src/domain/notifications/channel.ts'
import { tendChannel, type Tended } from '../../../../src/executor/notifier/channel-tender.ts'
import type { ChannelSender, DeliveryResult, Notification } from '../../../../src/ports/notifications.ts'
import { NO_TEAM_SETTINGS, type TeamSettings } from '../../../../src/ports/settings.ts'
import { shardOfQueue } from '../../../../src/redis/base/engine/engine.ts'
import { createNotificationBoard } from '../../../../src/redis/ledger/notifications/notification-board.ts'
import { systemClock } from '../../../../src/telemetry/system-clock.ts'
import { claimed, openExecutor, pushAll } from '../../../support/engine/model-executor.ts'
import type { World } from '../../../support/engine/model-world.ts'
import { quietLogger, quietMetrics } from '../../../support/quiet.ts'
import { alerting } from '../alerts/alert-stage.ts'

export const TEAM = 'default'

export function channelOf(change: Partial<Channel> = {}): Channel {
  return { name: 'ops', type: 'slack', alertTypes: ['failure'], url: 'https://chat.test/', ...change }
}

export function settingsOf(channels: readonly Channel[], version = 1): TeamSettings {
  return { ...NO_TEAM_SETTINGS, version, channels }
}

export const SENT: DeliveryResult = { kind: 'sent', answer: 'ok' }

/** Executors that tell the channels of one team, by hand. */
export class NotifierStage {
  readonly world: World
  readonly team: string
  /** In the order they were tried. */
  readonly sent: Notification[] = []
  readonly recipients: string[][] = []
  settings: TeamSettings
  /** For a channel in trouble. */
  hasPlace = true
  /** How a try ends. */
  answer: (message: Notification) => DeliveryResult | Promise<DeliveryResult> = () => SENT
  #ids = 0

  constructor(world: World, settings: TeamSettings = settingsOf([channelOf()]), team = TEAM) {
    this.world = world
    this.settings = settings
    this.team = team
  }

  get board() {
    return createNotificationBoard(this.world.engine)
  }

  /** As an executor that reads new settings. */
  prepare(): Promise<void> {
    const { version, channels } = this.settings
    return this.board.prepare(this.team, { version, channels: channels.map(({ name }) => name) })
  }

  /** Jobs of a queue with alerts fail: each raises a warning, and a failure too if it fails for good. */
  async fail(count: number, queue = 'emails', { isForGood = true } = {}): Promise<void> {
    const { team } = this
    const change = { team, queue, request: { payload: 'x' } }
    await pushAll(this.world.newIntake(), count, change)
    const { shard } = shardOfQueue(this.world.engine, team, queue)
    for (let left = count; left > 0;) {
      const source = await openExecutor(this.world, `${team}${(this.#ids += 1)}`, shard)
      const works = await claimed(source, Math.min(64, left))
      await source.finish(works.map((work) => alerting(this.world, work, { retriesEnabled: !isForGood })))
      left -= works.length
    }
  }

  /** One poll of an executor: forwards what was raised, then tends what is due. */
  async pump(): Promise<void> {
    const { board } = this
    const names = this.settings.channels.map(({ name }) => name)
    const { raised } = await board.due()
    const mine = raised.filter(({ team }) => team === this.team)
    for (const notice of mine) await board.forward(notice, names)
    const { channels } = await board.due()
    for (const { team, channel } of channels) if (team === this.team) await this.tend(channel)
  }

  /** Pumps while something is due within this time, which passes. */
  async pumpFor(ms: number): Promise<void> {
    for (const untilMs = this.world.clock.wallMs + ms; this.world.clock.wallMs < untilMs;) {
      await this.pump()
      this.world.clock.advance(1_000)
    }
    await this.pump()
  }

  tend(channel = 'ops'): Promise<Tended> {
    const { settings, board } = this
    const sender: ChannelSender = {
      send: async ({ notification, recipients }) => {
        this.recipients.push(recipients.map(({ email }) => email))
        this.sent.push(notification)
        return this.answer(notification)
      },
      close: () => Promise.resolve(),
    }
    return tendChannel(
      {
        board,
        sender,
        logger: quietLogger,
        metrics: quietMetrics,
        // Nothing waits for a report that cannot be written.
        clock: { ...systemClock, after: (_, run) => systemClock.after(0, run) },
        newId: () => `id${(this.#ids += 1)}`,
        random: () => 0,
      },
      {
        ref: { team: this.team, channel },
        settings,
        takePlace: () => this.hasPlace,
        signal: new AbortController().signal,
      },
    )
  }

  /** Alerts that messages told of, each message once. */
  get told(): number {
    const messages = new Map(this.sent.map((message) => [message.id, message]))
    return [...messages.values()].reduce((sum, { alerts }) => sum + alerts, 0)
  }
}
