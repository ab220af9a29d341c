import type { HeldResource } from '../domain/windows/held-resources.ts'
import type { MaintenanceWindow, WindowSettings } from '../domain/windows/maintenance-window.ts'

/** Windows that mute alerts of a team at one time, by name. */
export interface Mutes {
  /** null = alerts of the team and of all its resources are sent. */
  readonly all: string | null
  /** Names of windows by queue name. */
  readonly queues: ReadonlyMap<string, string>
  /** Names of windows by the name of the cron's resource. */
  readonly crons: ReadonlyMap<string, string>
}

/** A hold that is in force. */
export type Hold = HeldResource

/** The maintenance windows as compiled. Answers from memory; a change is in force within 2 s. */
export interface WindowSource {
  /** null = nothing is muted. A window of either action mutes. @param atMs Redis time, Unix ms */
  mutes(team: string, atMs: number): Mutes | null
  /** All holds in force at that time; the same array while nothing changes. */
  holds(atMs: number): readonly Hold[]
}

/** For processes in which no window can exist. */
export const NO_WINDOWS: WindowSource = Object.freeze({ mutes: () => null, holds: () => [] })

/** The windows of a team, from memory: at most 2 s old, and there while Redis is away. */
export interface KnownWindows {
  /** Sorted by name. */
  ofTeam(team: string): readonly MaintenanceWindow[]
}

/** Windows as users see them. Throws StoreUnavailableError. */
export interface WindowStore {
  /** Sorted by name. `bad_cursor` when this list did not make the cursor. */
  list(query: {
    readonly team: string
    readonly limit: number
    readonly cursor: string | null
  }): Promise<
    { readonly windows: readonly MaintenanceWindow[]; readonly nextCursor: string | null } | 'bad_cursor'
  >
  get(team: string, name: string): Promise<MaintenanceWindow | null>
}

/**
 * Makes new settings from those that the window has at that moment; `refused` leaves them. May run while other edits
 * wait.
 */
export type WindowChange = (current: WindowSettings) => Promise<WindowSettings | 'refused'>

/**
 * Edits by users. An edit changes the resource, where there is one, and is answered once it is in force, or after 2 s.
 * Throws EditRefusedError, also when the name is taken or the team has as many windows as it may have.
 */
export interface WindowEditor {
  /** @param name null = one is made up */
  create(team: string, name: string | null, settings: WindowSettings): Promise<MaintenanceWindow>
  /** Writes only what the change makes different; null when the window does not exist. */
  edit(team: string, name: string, change: WindowChange): Promise<MaintenanceWindow | 'refused' | null>
  remove(team: string, name: string): Promise<'removed' | 'not_found'>
}
