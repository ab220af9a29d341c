import { EditRefusedError } from '../../domain/errors.ts'
import { WINDOWS_PER_TEAM_MAX } from '../../domain/limits.ts'
import type { Mutex } from '../../domain/mutex.ts'
import type { MaintenanceWindow } from '../../domain/windows/maintenance-window.ts'
import type { WindowCompiler } from '../../ports/settings.ts'
import type { WindowChange, WindowEditor, WindowStore } from '../../ports/windows.ts'
import { nameOfNewWindow } from '../../resources/manifests/window-manifest.ts'
import { createEditMutex } from './queue-editor.ts'

/** Where the settings of windows are kept. */
export interface WindowKeeper {
  /** As of a QueueKeeper. */
  sync?(): Promise<void>
  /** Throws EditRefusedError when there is one of that name. */
  create(window: MaintenanceWindow): Promise<unknown>
  /**
   * Changes what is kept of a window in force.
   * @returns the window as it is then; null when it is gone
   */
  edit(window: MaintenanceWindow, change: WindowChange): Promise<MaintenanceWindow | 'refused' | null>
  remove(team: string, name: string): Promise<'removed' | 'not_found'>
}

/**
 * @param parts.newSuffix 8 random hex digits
 * @param parts.mutex Kubernetes needs none: the API server refuses a second window of a name, and merges edits by field
 */
export function createWindowEditor(parts: {
  readonly windows: WindowStore
  readonly keeper: WindowKeeper
  readonly newSuffix: () => string
  readonly mutex?: Mutex
}): WindowEditor {
  const { windows, keeper, newSuffix, mutex = createEditMutex() } = parts

  return {
    create: (team, given, settings) =>
      mutex(async () => {
        const name = given ?? nameOfNewWindow(settings.reason, newSuffix())
        await refuseUnlessFree(windows, team, name)
        const window = { team, name, ...settings }
        await keeper.create(window)
        return window
      }),
    edit: (team, name, change) =>
      mutex(async () => {
        await keeper.sync?.()
        const window = await windows.get(team, name)
        return window === null ? null : keeper.edit(window, change)
      }),
    remove: (team, name) =>
      mutex(async () => ((await windows.get(team, name)) === null ? 'not_found' : keeper.remove(team, name))),
  }
}

/** Throws EditRefusedError. */
async function refuseUnlessFree(windows: WindowStore, team: string, name: string): Promise<void> {
  if ((await windows.get(team, name)) !== null) throw new EditRefusedError(nameTaken(name))
  const page = await windows.list({ team, limit: WINDOWS_PER_TEAM_MAX, cursor: null })
  if (page !== 'bad_cursor' && page.windows.length >= WINDOWS_PER_TEAM_MAX) {
    throw new EditRefusedError(
      `The team has ${WINDOWS_PER_TEAM_MAX} maintenance windows, the most allowed: delete one first.`,
    )
  }
}

function nameTaken(name: string): string {
  return `There is a maintenance window called ${name} already.`
}

/** Where there are no manifests, the engine itself keeps windows. */
export function windowsInEngine(compiler: WindowCompiler): WindowKeeper {
  return {
    create: (window) => compiler.putWindow(window),
    edit: async (window, change) => {
      const settings = await change(window)
      if (settings === 'refused') return settings
      const edited = { ...window, ...settings }
      await compiler.putWindow(edited)
      return edited
    },
    remove: async (team, name) => {
      await compiler.removeWindow(team, name)
      return 'removed'
    },
  }
}
