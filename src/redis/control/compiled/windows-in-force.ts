import { isDeepStrictEqual } from 'node:util'
import { heldResources } from '../../../domain/windows/held-resources.ts'
import type { SetAside } from '../../../domain/set-aside.ts'
import { WindowOpenings } from '../../../domain/windows/window-openings.ts'
import type { MaintenanceWindow, WindowResource } from '../../../domain/windows/maintenance-window.ts'
import type { Hold, Mutes, WindowSource } from '../../../ports/windows.ts'

/** A window that was set aside is tried again after this long: what it threw over may have passed. */
const ASIDE_MS = 60_000

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
 * what it knows of a window's times is taken over by its successor: an edit of one costs the others nothing. A window that
 * our own code throws over counts as closed, and stops no other.
 */
export class WindowsInForce implements WindowSource {
  readonly #timed: ReadonlyMap<string, TimedWindow>
  readonly #byTeam: ReadonlyMap<string, readonly TimedWindow[]>
  readonly #holding: readonly TimedWindow[]
  readonly #mutes = new Map<string, Lasting<Mutes | null>>()
  #holds: Lasting<readonly Hold[]> | null = null
  readonly #setAside: SetAside

  constructor(
    windows: readonly MaintenanceWindow[],
    { former = null, setAside }: { readonly former?: WindowsInForce | null; readonly setAside: SetAside },
  ) {
    this.#setAside = setAside
    const known = former === null ? new Map<string, TimedWindow>() : former.#timed
    const timed = windows.flatMap((window) =>
      setAside.try(nameOf(window), () => timedOf(window, known.get(keyOf(window))), []),
    )
    this.#timed = new Map(timed.map((one) => [keyOf(one.window), one]))
    this.#byTeam = Map.groupBy(timed, ({ window }) => window.team)
    this.#holding = timed.filter(({ window }) => window.action === 'hold')
  }

  mutes(team: string, atMs: number): Mutes | null {
    const windows = this.#byTeam.get(team)
    if (windows === undefined) return null
    let mutes = this.#mutes.get(team)
    if (mutes === undefined || !lastsAt(mutes, atMs)) {
      const { open, untilMs } = this.#openOf(windows, atMs)
      mutes = { value: mutesOf(open), fromMs: atMs, untilMs }
      this.#mutes.set(team, mutes)
    }
    return mutes.value
  }

  holds(atMs: number): readonly Hold[] {
    if (this.#holds === null || !lastsAt(this.#holds, atMs)) {
      const { open, untilMs } = this.#openOf(this.#holding, atMs)
      // Each is tried alone, because all of them are looked at together afterwards.
      const sound = open.filter(({ window, untilMs: endMs }) =>
        this.#setAside.try(nameOf(window), () => heldResources([{ ...window, untilMs: endMs }]), null),
      )
      this.#holds = { value: holdsOf(sound), fromMs: atMs, untilMs }
    }
    return this.#holds.value
  }

  /** The windows that are open, and until when no other opens and none of them closes. */
  #openOf(
    windows: readonly TimedWindow[],
    atMs: number,
  ): { readonly open: readonly OpenWindow[]; readonly untilMs: number } {
    const open: OpenWindow[] = []
    let earliestMs = Infinity
    for (const { window, openings } of windows) {
      const aside = { isOpen: false, untilMs: atMs + ASIDE_MS }
      const { isOpen, untilMs } = this.#setAside.try(nameOf(window), () => openings.at(atMs), aside)
      earliestMs = Math.min(earliestMs, untilMs)
      if (isOpen) open.push({ window, untilMs })
    }
    return { open, untilMs: earliestMs }
  }
}

function nameOf({ team, name }: MaintenanceWindow): { team: string; window: string } {
  return { team, window: name }
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

/**
 * Names the windows that mute. If several cover a resource, the one that ends last is named; a tie goes to the first by
 * name.
 */
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
