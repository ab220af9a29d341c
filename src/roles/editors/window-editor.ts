import { EditRefusedError } from '../../domain/errors.ts'
import { WINDOWS_PER_TEAM_MAX } from '../../domain/limits.ts'
import type { Mutex } from '../../domain/mutex.ts'
import type { MaintenanceWindow, WindowSettings } from '../../domain/windows/maintenance-window.ts'
import type { WindowCompiler } from '../../ports/settings.ts'
import type { WindowEditor, WindowStore } from '../../ports/windows.ts'
import { nameOfNewWindow } from '../../resources/manifests/window-manifest.ts'
import { createEditMutex } from './queue-editor.ts'

/** Where the settings of windows are kept. */
export interface WindowKeeper {
  write(window: MaintenanceWindow): Promise<unknown>
  remove(team: string, name: string): Promise<'removed' | 'not_found'>
}

/**
 * @param parts.newSuffix 8 random hex digits
 * @param parts.mutex Kubernetes needs none: it refuses the second of two windows with a name
 */
export function createWindowEditor(parts: {
  readonly windows: WindowStore
  readonly keeper: WindowKeeper
  readonly newSuffix: () => string
  readonly mutex?: Mutex
}): WindowEditor {
  const { windows, keeper, newSuffix, mutex = createEditMutex() } = parts

  async function write(team: string, name: string, settings: WindowSettings): Promise<MaintenanceWindow> {
    const window = { team, name, ...settings }
    await keeper.write(window)
    return window
  }

  return {
    create: (team, given, settings) =>
      mutex(async () => {
        const name = given ?? nameOfNewWindow(settings.reason, newSuffix())
        await refuseUnlessFree(windows, team, name)
        return write(team, name, settings)
      }),
    edit: (team, name, settings) =>
      mutex(async () => ((await windows.get(team, name)) === null ? null : write(team, name, settings))),
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
    write: (window) => compiler.putWindow(window),
    remove: async (team, name) => {
      await compiler.removeWindow(team, name)
      return 'removed'
    },
  }
}
