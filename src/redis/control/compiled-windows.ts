import { SetAside } from '../../domain/set-aside.ts'
import type { MaintenanceWindow } from '../../domain/windows/maintenance-window.ts'
import type { LoopHealth, LoopTurns } from '../../ports/loops/loop-health.ts'
import type { Metrics } from '../../ports/metrics.ts'
import type { Clock, Logger } from '../../ports/runtime.ts'
import type { Hold, KnownWindows, Mutes, WindowSource, WindowStore } from '../../ports/windows.ts'
import type { StepRunner } from '../client/step-runner.ts'
import { WINDOWS_KEY } from '../layout/keys.ts'
import { formatCursor, parseCursor } from '../names/list-cursor.ts'
import { VERSION_FIELD } from './stored-settings.ts'
import { decodeWindow, windowFieldsOf } from './stored-windows.ts'
import { WindowsInForce } from './windows-in-force.ts'

/** As teams and tokens: a change is in force within 2 s of a write to the folder. */
const REFRESH_MS = 800

interface CompiledWindowsOptions {
  readonly runner: Pick<StepRunner, 'read'>
  readonly clock: Clock
  readonly logger: Logger
  readonly metrics: Pick<Metrics, 'setAside'>
  readonly loops: LoopHealth
}

/**
 * The maintenance windows as compiled from resources. Only the version of the last change is polled. Owns the windows
 * last read and the timer of the next poll; they stay in force while Redis is away.
 *
 *     new → polling (a timer is set or a read is under way) → stopped
 *
 * `stop` waits for nothing: a read under way still ends, and no other follows.
 */
export class CompiledWindows implements WindowSource, WindowStore, KnownWindows {
  readonly #options: CompiledWindowsOptions
  /** As last read; undefined before the first read, null in an installation that never had a window. */
  #version: string | null | undefined
  #inForce: WindowsInForce
  readonly #setAside: SetAside
  readonly #turns: LoopTurns
  /** Each in the order of its names. */
  #byTeam: ReadonlyMap<string, readonly MaintenanceWindow[]> = new Map()
  /** Entries that cannot be read; each is logged once. */
  #damaged: ReadonlySet<string> = new Set()
  #cancelTimer: () => void = () => undefined
  #isStopped = false

  constructor(options: CompiledWindowsOptions) {
    this.#options = options
    this.#setAside = new SetAside('window', options)
    this.#inForce = new WindowsInForce([], { setAside: this.#setAside })
    this.#turns = options.loops.of('windows', null)
  }

  /** Reads what is stored, then polls; the first read must succeed. */
  async start(): Promise<void> {
    await this.refresh()
    this.#schedule()
  }

  /** Reads now instead of at the next poll. Throws StoreUnavailableError. */
  async refresh(): Promise<void> {
    const { runner } = this.#options
    const version = await runner.read((redis) => redis.hget(WINDOWS_KEY, VERSION_FIELD))
    if (version === this.#version) return
    // Whoever removes the last window leaves the version: jobs must not run because a node came back without its data.
    if (version === null && typeof this.#version === 'string') {
      this.#version = null
      this.#options.logger.error('Redis has lost the maintenance windows; the last ones stay in force')
      return
    }
    const hash = await runner.read((redis) => redis.hgetall(WINDOWS_KEY))
    const windows = this.#readAll(hash).toSorted((a, b) => (a.name < b.name ? -1 : 1))
    this.#byTeam = Map.groupBy(windows, ({ team }) => team)
    this.#inForce = new WindowsInForce(windows, { former: this.#inForce, setAside: this.#setAside })
    this.#version = hash[VERSION_FIELD] ?? null
  }

  stop(): void {
    this.#isStopped = true
    this.#cancelTimer()
  }

  mutes(team: string, atMs: number): Mutes | null {
    return this.#inForce.mutes(team, atMs)
  }

  holds(atMs: number): readonly Hold[] {
    return this.#inForce.holds(atMs)
  }

  ofTeam(team: string): readonly MaintenanceWindow[] {
    return this.#byTeam.get(team) ?? []
  }

  /** Reads first what another process has changed a moment ago. */
  async list({ team, limit, cursor }: Parameters<WindowStore['list']>[0]): ReturnType<WindowStore['list']> {
    const after = cursor === null ? '' : parseCursor(['windows', team], cursor)
    if (after === null) return 'bad_cursor'
    await this.refresh()
    const rest = this.ofTeam(team).filter(({ name }) => name > after)
    const windows = rest.slice(0, limit)
    const last = windows.at(-1)
    const isLast = rest.length <= limit || last === undefined
    return { windows, nextCursor: isLast ? null : formatCursor(['windows', team], last.name) }
  }

  async get(team: string, name: string): Promise<MaintenanceWindow | null> {
    await this.refresh()
    return this.ofTeam(team).find((window) => window.name === name) ?? null
  }

  #readAll(hash: Readonly<Record<string, string>>): MaintenanceWindow[] {
    const damaged = new Set<string>()
    const windows = windowFieldsOf(Object.keys(hash)).flatMap((field) => {
      try {
        return [decodeWindow(field, hash[field] ?? '')]
      } catch {
        damaged.add(field)
        return []
      }
    })
    for (const field of damaged) {
      if (!this.#damaged.has(field)) {
        this.#options.logger.error('A maintenance window in Redis cannot be read; it is not in force', {
          field,
        })
      }
    }
    this.#damaged = damaged
    return windows
  }

  #schedule(delayMs = REFRESH_MS): void {
    if (this.#isStopped) return
    this.#cancelTimer = this.#options.clock.after(delayMs, () => void this.#poll())
  }

  async #poll(): Promise<void> {
    try {
      await this.refresh()
      this.#turns.succeeded()
      this.#schedule()
    } catch (error) {
      // The last ones stay in force.
      this.#schedule(this.#turns.failed(error) ?? REFRESH_MS)
    }
  }
}
