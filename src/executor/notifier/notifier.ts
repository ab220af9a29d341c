import { reasonOf } from '../../domain/errors.ts'
import type { ChannelRef, RaisedNotice } from '../../ports/notifications.ts'
import type { NotifiedTeamsSource } from '../../ports/settings.ts'
import { PollLoop } from '../poll-loop.ts'
import { tendChannel, type ChannelTenderOptions } from './channel-tender.ts'
import { DeliveryPlaces } from './delivery-places.ts'

export interface NotifierOptions extends ChannelTenderOptions {
  readonly teams: NotifiedTeamsSource
}

/** Alerts are told within 3 s: one poll, a look and the call. */
const POLL_MS = 1_000
/** Jobs wait so long at most; preparing a thousand teams takes less than a second. */
const PREPARE_WAIT_MS = 2_000
/** Teams whose channels are marked at once, and prepared at once. */
const TEAMS_AT_ONCE = 32

/**
 * Tells channels of alerts. Every executor runs one; the record of each channel in Redis says who sends. Owns its loop,
 * the places of messages on their way, and which teams' channels it has prepared.
 *
 *     new → polling (sends in the background) → stopped
 *
 * It uses no slots of jobs. `stop` waits for what is being sent, aborts it after `graceMs`, and waits for the results to
 * be written; another executor sends what was cut short.
 */
export class Notifier extends PollLoop {
  readonly #options: NotifierOptions
  readonly #places = new DeliveryPlaces()
  readonly #sending = new Map<string, Promise<void>>()
  readonly #abort = new AbortController()
  /** Team → version of the settings whose channels are prepared. */
  readonly #prepared = new Map<string, number>()
  #notifiedTeams: readonly string[] | null = null
  #isFailing = false

  constructor(options: NotifierOptions) {
    super(options.clock)
    this.#options = options
  }

  /**
   * Before the first job runs: what it raises is told on channels that were made while no executor ran. Never rejects,
   * and ends within PREPARE_WAIT_MS; the first poll goes on, and says what is wrong.
   */
  prepare(): Promise<void> {
    return new Promise((resolve) => {
      const cancel = this.#options.clock.after(PREPARE_WAIT_MS, resolve)
      const prepared = this.#prepare().catch(() => undefined)
      void prepared.then(() => {
        cancel()
        resolve()
      })
    })
  }

  override start(): void {
    super.start(POLL_MS * this.#options.random())
  }

  /** Idempotent. */
  async stopSending(graceMs: number): Promise<void> {
    await super.stop()
    const cancel = this.#options.clock.after(graceMs, () => this.#abort.abort())
    await Promise.all(this.#sending.values())
    cancel()
  }

  protected override async poll(): Promise<number> {
    try {
      await this.#prepare()
      const { raised, channels } = await this.#options.board.due()
      await eachOf(raised, (notice) => this.#forward(notice))
      // Marked just now: no need to wait for the next poll.
      const due = raised.length === 0 ? { channels } : await this.#options.board.due()
      this.#tendAll(due.channels)
      this.#isFailing = false
    } catch (error) {
      const level = this.#isFailing ? 'debug' : 'warn'
      this.#isFailing = true
      this.#options.logger[level]('Alerts cannot be read for notifications; retrying', {
        reason: reasonOf(error),
      })
    }
    return POLL_MS
  }

  #forward(notice: RaisedNotice): Promise<void> {
    const { board, teams } = this.#options
    const { channels } = teams.of(notice.team)
    return board.forward(
      notice,
      channels.map(({ name }) => name),
    )
  }

  /** Has new channels kept from now on, and those that are gone forgotten. */
  async #prepare(): Promise<void> {
    const { board, teams } = this.#options
    const notified = teams.notifiedTeams()
    if (notified === this.#notifiedTeams) return
    const gone = [...this.#prepared].filter(([team]) => teams.of(team).channels.length === 0)
    await eachOf(gone, async ([team, version]) => {
      await board.prepare(team, { version, channels: [] })
      this.#prepared.delete(team)
    })
    const changed = notified.filter((team) => this.#prepared.get(team) !== teams.of(team).version)
    await eachOf(changed, async (team) => {
      const { version, channels } = teams.of(team)
      await board.prepare(team, { version, channels: channels.map(({ name }) => name) })
      this.#prepared.set(team, version)
    })
    this.#notifiedTeams = notified
  }

  #tendAll(channels: readonly ChannelRef[]): void {
    // From another place each time, so that none stays behind others while there are too few places.
    const from = Math.floor(this.#options.random() * channels.length)
    for (const ref of [...channels.slice(from), ...channels.slice(0, from)]) {
      if (this.isStopped) return
      this.#tend(ref)
    }
  }

  #tend(ref: ChannelRef): void {
    const { logger, teams } = this.#options
    const name = `${ref.team}/${ref.channel}`
    if (this.#sending.has(name)) return
    const settings = teams.of(ref.team)
    const type = settings.channels.find((channel) => channel.name === ref.channel)?.type ?? 'webhook'
    const place = this.#places.take(type, ref.team)
    if (place === null) return
    const tending = { ref, settings, place, signal: this.#abort.signal }
    const sending = tendChannel(this.#options, tending)
      .then((answer) => {
        // Its record is lost: it is made anew, as of a new channel.
        if (answer === 'unknown' && this.#prepared.delete(ref.team)) this.#notifiedTeams = null
      })
      .catch((error: unknown) =>
        logger.debug('A channel could not be looked at; retrying', { ...ref, reason: reasonOf(error) }),
      )
      .finally(() => {
        place.release()
        this.#sending.delete(name)
      })
    this.#sending.set(name, sending)
  }
}

async function eachOf<T>(items: readonly T[], run: (item: T) => Promise<void>): Promise<void> {
  for (let i = 0; i < items.length; i += TEAMS_AT_ONCE) {
    await Promise.all(items.slice(i, i + TEAMS_AT_ONCE).map(run))
  }
}
