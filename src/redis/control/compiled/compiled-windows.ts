import { SetAside } from '../../../domain/set-aside.ts'
import type { MaintenanceWindow } from '../../../domain/windows/maintenance-window.ts'
import type { LoopHealth } from '../../../ports/loops/loop-health.ts'
import type { Metrics } from '../../../ports/metrics.ts'
import type { Clock, Logger } from '../../../ports/runtime.ts'
import type { Hold, KnownWindows, Mutes, WindowSource, WindowStore } from '../../../ports/windows.ts'
import type { StepRunner } from '../../base/engine/step-runner.ts'
import { WINDOWS_KEY } from '../../base/layout/keys.ts'
import { formatCursor, parseCursor } from '../../base/names/list-cursor.ts'
import { CompiledHash } from './compiled-hash.ts'
import { CompiledPoll } from './compiled-poll.ts'
import { decodeWindow } from './stored-windows.ts'
import { WindowsInForce } from './windows-in-force.ts'

interface CompiledWindowsOptions {
  readonly runner: Pick<StepRunner, 'read'>
  readonly clock: Clock
  readonly logger: Logger
  readonly metrics: Pick<Metrics, 'setAside'>
  readonly loops: LoopHealth
}

/**
 * The maintenance windows as compiled from resources; they stay in force while Redis is away. They are polled
 * (`CompiledPoll` says how it is started and stopped).
 */
export class CompiledWindows implements WindowSource, WindowStore, KnownWindows {
  readonly #options: CompiledWindowsOptions
  readonly #poll: CompiledPoll
  readonly #hash: CompiledHash<MaintenanceWindow>
  #inForce: WindowsInForce
  /** Each in the order of its names. */
  #byTeam: ReadonlyMap<string, readonly MaintenanceWindow[]> = new Map()

  constructor(options: CompiledWindowsOptions) {
    this.#options = options
    const { clock, logger, loops } = options
    const setAside = new SetAside('window', options)
    this.#inForce = new WindowsInForce([], { setAside })
    this.#hash = compiledWindows(logger, (entries) => {
      const windows = [...entries.values()].toSorted((a, b) => (a.name < b.name ? -1 : 1))
      this.#byTeam = Map.groupBy(windows, ({ team }) => team)
      this.#inForce = new WindowsInForce(windows, { former: this.#inForce, setAside })
    })
    const iterations = loops.of('windows', null)
    this.#poll = new CompiledPoll({ clock, iterations, refresh: () => this.refresh() })
  }

  /** Reads what is stored, then polls; the first read must succeed. */
  start(): Promise<void> {
    return this.#poll.start()
  }

  /** Reads now instead of at the next poll. Throws StoreUnavailableError. */
  async refresh(): Promise<void> {
    const { runner, logger } = this.#options
    if ((await CompiledHash.refresh((reads) => runner.read(reads), [this.#hash])) === 'lost') {
      // Jobs must not run because a node came back without its data.
      logger.error('Redis has lost the maintenance windows; the last ones stay in force')
    }
  }

  stop(): void {
    this.#poll.stop()
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
}

function compiledWindows(
  logger: Pick<Logger, 'error'>,
  onRead: (windows: ReadonlyMap<string, MaintenanceWindow>) => void,
): CompiledHash<MaintenanceWindow> {
  return new CompiledHash<MaintenanceWindow>({
    key: WINDOWS_KEY,
    onRead,
    isEntry: (field) => field.startsWith('['),
    decode: decodeWindow,
    instead: ({ field, isNew }) => {
      if (isNew) logger.error('A maintenance window in Redis cannot be read; it is not in force', { field })
      return null
    },
  })
}
