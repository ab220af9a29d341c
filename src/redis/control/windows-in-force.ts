import { isDeepStrictEqual } from 'node:util'
import { WindowOpenings } from '../../domain/windows/window-openings.ts'
import type { MaintenanceWindow, WindowResource } from '../../domain/windows/maintenance-window.ts'
import type { Hold, Mutes, WindowSource } from '../../ports/windows.ts'

interface TimedWindow {
  readonly window: MaintenanceWindow
  readonly openings: WindowOpenings
}

/** A value and the stretch of time in which it holds. */
interface Lasting<T> {
  readonly value: T
  readonly fromMs: number
  readonly untilMs: number
}

/**
 * Judges a fixed set of windows. What it has found out holds until the next edge of a window that counts for it, and
 * what it knows of a window's times is taken over by its successor: an edit of one costs the others nothing.
 */
export class WindowsInForce implements WindowSource {
  readonly #timed: ReadonlyMap<string, TimedWindow>
  readonly #byTeam: ReadonlyMap<string, readonly TimedWindow[]>
  readonly #holding: readonly TimedWindow[]
  readonly #mutes = new Map<string, Lasting<Mutes | null>>()
  #holds: Lasting<readonly Hold[]> | null = null

  constructor(windows: readonly MaintenanceWindow[], former: WindowsInForce | null = null) {
    const known = former === null ? new Map<string, TimedWindow>() : former.#timed
    const timed = windows.map((window) => timedOf(window, known.get(keyOf(window))))
    this.#timed = new Map(timed.map((one) => [keyOf(one.window), one]))
    this.#byTeam = Map.groupBy(timed, ({ window }) => window.team)
    this.#holding = timed.filter(({ window }) => window.action === 'hold')
  }

  mutes(team: string, atMs: number): Mutes | null {
    const windows = this.#byTeam.get(team)
    if (windows === undefined) return null
    let mutes = this.#mutes.get(team)
    if (mutes === undefined || !lastsAt(mutes, atMs)) {
      const { open, untilMs } = openOf(windows, atMs)
      mutes = { value: mutesOf(open), fromMs: atMs, untilMs }
      this.#mutes.set(team, mutes)
    }
    return mutes.value
  }

  holds(atMs: number): readonly Hold[] {
    if (this.#holds === null || !lastsAt(this.#holds, atMs)) {
      const { open, untilMs } = openOf(this.#holding, atMs)
      this.#holds = { value: holdsOf(open), fromMs: atMs, untilMs }
    }
    return this.#holds.value
  }
}

function keyOf({ team, name }: MaintenanceWindow): string {
  return `${team}/${name}`
}

function timedOf(window: MaintenanceWindow, former: TimedWindow | undefined): TimedWindow {
  const isSame = former !== undefined && isDeepStrictEqual(former.window.times, window.times)
  return { window, openings: isSame ? former.openings : new WindowOpenings(window.times) }
}

function lastsAt({ fromMs, untilMs }: Lasting<unknown>, atMs: number): boolean {
  return fromMs <= atMs && atMs < untilMs
}

interface OpenWindow {
  readonly window: MaintenanceWindow
  /** Open at least up to this time. */
  readonly untilMs: number
}

/** The windows that are open, and until when no other opens and none of them closes. */
function openOf(
  windows: readonly TimedWindow[],
  atMs: number,
): { readonly open: readonly OpenWindow[]; readonly untilMs: number } {
  const open: OpenWindow[] = []
  let earliestMs = Infinity
  for (const { window, openings } of windows) {
    const { isOpen, untilMs } = openings.at(atMs)
    earliestMs = Math.min(earliestMs, untilMs)
    if (isOpen) open.push({ window, untilMs })
  }
  return { open, untilMs: earliestMs }
}

/** Of several windows over the same resource the one that ends last is named, of several such the first by name. */
function mutesOf(open: readonly OpenWindow[]): Mutes | null {
  if (open.length === 0) return null
  const lastFirst = open.toSorted((a, b) => b.untilMs - a.untilMs || (a.window.name < b.window.name ? -1 : 1))
  let all: string | null = null
  const named = { queue: new Map<string, string>(), cron: new Map<string, string>() }
  for (const { window } of lastFirst) {
    const { resource } = window
    if (resource === null) all ??= window.name
    else if (!named[resource.kind].has(resource.name)) named[resource.kind].set(resource.name, window.name)
  }
  return { all, queues: named.queue, crons: named.cron }
}

/** One hold for each resource, however many windows are open for it. */
function holdsOf(open: readonly OpenWindow[]): readonly Hold[] {
  const holds = new Map<string, Hold>()
  for (const { window, untilMs } of open) {
    const { team, resource } = window
    const key = holdKey(team, resource)
    const former = holds.get(key)
    if (former === undefined || former.untilMs < untilMs) holds.set(key, { team, resource, untilMs })
  }
  return [...holds.values()]
}

function holdKey(team: string, resource: WindowResource | null): string {
  return resource === null ? team : JSON.stringify([team, resource.kind, resource.name])
}
