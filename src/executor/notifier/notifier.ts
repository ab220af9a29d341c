import { isOutage, reasonOf } from '../../domain/errors.ts'
import { SetAside } from '../../domain/set-aside.ts'
import type { LoopHealth } from '../../ports/loops/loop-health.ts'
import type { ChannelRef, RaisedNotice } from '../../ports/notifications.ts'
import type { NotifiedTeamsSource } from '../../ports/settings.ts'
import { PollLoop } from '../poll-loop.ts'
import { markFailing, tendChannel, type ChannelTenderOptions } from './channel-tender.ts'
import { DueChannels, type TakePlace } from './due-channels.ts'

export interface NotifierOptions extends ChannelTenderOptions {
  readonly teams: NotifiedTeamsSource
  readonly loops: LoopHealth
}

/** Alerts are told within 3 s: one poll, a look and the call. */
const POLL_MS = 1_000
/** Jobs wait so long at most; preparing a thousand teams takes less than a second. */
const PREPARE_WAIT_MS = 2_000
/** Teams whose channels are marked at once, and prepared at once. */
const TEAMS_AT_ONCE = 32

/**
 * Tells channels of alerts. Every executor runs one; the record of each channel in Redis says who sends. Owns its loop,
 * the channels that are due, and which teams' channels it has prepared.
 *
 *     new → polling (sends in the background) → stopped
 *
 * It uses no slots of jobs. `stop` waits for what is being sent, aborts it after `graceMs`, and waits for the results to
 * be written; another executor sends what was cut short.
 */
export class Notifier extends PollLoop {
  readonly #options: NotifierOptions
  readonly #due: DueChannels
  readonly #abort = new AbortController()
  /** Team → version of the settings whose channels are prepared. */
  readonly #prepared = new Map<string, number>()
  readonly #setAside: SetAside
  #notifiedTeams: readonly string[] | null = null
  #isFailing = false

  constructor(options: NotifierOptions) {
    const { clock, loops } = options
    super({ clock, iterations: loops.of('notify', null), retryMs: POLL_MS })
    this.#options = options
    this.#setAside = new SetAside('channel', options)
    this.#due = new DueChannels({
      typeOf: ({ team, channel }) => {
        const typeIn = () => options.teams.of(team).channels.find(({ name }) => name === channel)?.type
        return this.#setAside.try({ team, channel }, typeIn, undefined) ?? 'webhook'
      },
      tend: (ref, takePlace) => this.#tend(ref, takePlace),
    })
  }

  /**
   * Keeps the channels that were made while no executor ran, before the first job runs: so they are told what it
   * raises. Never rejects, and ends within PREPARE_WAIT_MS; the first poll goes on, and says what is wrong.
   */
  prepare(): Promise<void> {
    return new Promise((resolve) => {
      const cancel = this.#options.clock.after(PREPARE_WAIT_MS, resolve)
      const prepared = this.#prepare(() => undefined)
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
    const ended = this.#due.stop()
    await super.stop()
    const cancel = this.#options.clock.after(graceMs, () => this.#abort.abort())
    await ended
    cancel()
  }

  protected override async poll(): Promise<number> {
    const faults: unknown[] = []
    const note: NoteFault = (fault) => faults.push(fault)
    await this.#prepare(note)
    try {
      await this.#readDue(note)
    } finally {
      this.#logFaults(faults)
    }
    return POLL_MS
  }

  /** Faults of single teams: the others' alerts are told. */
  #logFaults(faults: readonly unknown[]): void {
    const [first] = faults
    if (first !== undefined) {
      const level = this.#isFailing ? 'debug' : 'warn'
      const fields = { reason: reasonOf(first), faults: faults.length }
      this.#options.logger[level]('Alerts of some teams cannot be read for notifications; retrying', fields)
    }
    this.#isFailing = first !== undefined
  }

  async #readDue(note: NoteFault): Promise<void> {
    const { board } = this.#options
    const { raised, channels } = await board.due()
    this.#list(channels)
    if (raised.length === 0) return
    await eachOf(raised, note, (notice) => this.#forward(notice))
    // Marked just now: no need to wait for the next poll.
    this.#list((await board.due()).channels)
  }

  #forward(notice: RaisedNotice): Promise<void> {
    const { board, teams } = this.#options
    const { channels } = teams.of(notice.team)
    return board.forward(
      notice,
      channels.map(({ name }) => name),
    )
  }

  /** Has new channels kept from now on, and those that are gone forgotten. Never rejects; a later call tries again. */
  async #prepare(note: NoteFault): Promise<void> {
    const { board, teams } = this.#options
    const notified = teams.notifiedTeams()
    if (notified === this.#notifiedTeams) return
    // Before the first write: who finds a record lost meanwhile has all looked through once more.
    this.#notifiedTeams = notified
    const fail = (fault: unknown) => {
      this.#notifiedTeams = null
      note(fault)
    }
    const gone = [...this.#prepared].filter(([team]) => teams.of(team).channels.length === 0)
    await eachOf(gone, fail, async ([team, version]) => {
      await board.prepare(team, { version, channels: [] })
      this.#prepared.delete(team)
    })
    const changed = notified.filter((team) => this.#prepared.get(team) !== teams.of(team).version)
    await eachOf(changed, fail, async (team) => {
      const { version, channels } = teams.of(team)
      await board.prepare(team, { version, channels: channels.map(({ name }) => name) })
      this.#prepared.set(team, version)
    })
  }

  #list(channels: readonly ChannelRef[]): void {
    // From another place each time, so that none stays behind others while there are too many.
    const from = Math.floor(this.#options.random() * channels.length)
    if (!this.isStopped) this.#due.list([...channels.slice(from), ...channels.slice(0, from)])
  }

  async #tend(ref: ChannelRef, takePlace: TakePlace): Promise<'done' | 'no_place'> {
    const { logger, teams } = this.#options
    try {
      const tending = { ref, settings: teams.of(ref.team), takePlace, signal: this.#abort.signal }
      const answer = await tendChannel(this.#options, tending)
      if (answer !== 'unknown') return answer
      // Its record is lost: it is made anew, as of a new channel.
      if (this.#prepared.delete(ref.team)) this.#notifiedTeams = null
    } catch (error) {
      if (isOutage(error)) {
        logger.debug('A channel could not be looked at; retrying', { ...ref, reason: reasonOf(error) })
      } else await this.#leaveOut(ref, error)
    }
    return 'done'
  }

  async #leaveOut(ref: ChannelRef, defect: unknown): Promise<void> {
    this.#setAside.note({ team: ref.team, channel: ref.channel }, defect)
    await markFailing(this.#options, ref, defect).catch((error: unknown) =>
      this.#options.logger.debug('A channel cannot be marked as failing', {
        ...ref,
        reason: reasonOf(error),
      }),
    )
  }
}

type NoteFault = (fault: unknown) => void

/** A fault of one item holds up no other. */
async function eachOf<T>(
  items: readonly T[],
  note: NoteFault,
  run: (item: T) => Promise<void>,
): Promise<void> {
  const settled = async (item: T): Promise<void> => {
    try {
      await run(item)
    } catch (error) {
      note(error)
    }
  }
  for (let i = 0; i < items.length; i += TEAMS_AT_ONCE) {
    await Promise.all(items.slice(i, i + TEAMS_AT_ONCE).map((item) => settled(item)))
  }
}
