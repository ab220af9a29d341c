import { isDeepStrictEqual } from 'node:util'
import { EditRefusedError } from '../domain/errors.ts'
import { WINDOWS_PER_TEAM_MAX } from '../domain/limits.ts'
import type { MaintenanceWindow } from '../domain/windows/maintenance-window.ts'
import { refOf, type KubeObject, type ResourceStore } from '../ports/resource-store.ts'
import type { Clock } from '../ports/runtime.ts'
import type { WindowEditor, WindowStore } from '../ports/windows.ts'
import type { MaintenanceWindowSpec } from '../resources/generated/kinds.ts'
import { nameOfNewWindow, newWindowSpec } from '../resources/manifests/window-manifest.ts'
import { API_ORIGIN, ORIGIN_LABEL } from '../resources/queue-owner.ts'
import { changedWindowSpec, settingsOfWindowSpec } from '../resources/window-spec.ts'
import { refuseApplied, type IsReadOnly } from './managed-resources.ts'
import { notWatched, pollUntil, withinTimeout, writeChecked } from './resource-edit.ts'

interface WindowObject extends KubeObject {
  readonly spec: MaintenanceWindowSpec
}

export interface WindowEditorOptions {
  readonly windows: WindowStore
  readonly store: Pick<ResourceStore<WindowObject>, 'create' | 'patchSpec' | 'remove' | 'read'>
  /**
   * Ends a window that is in force without a resource, such as one that another folder has left behind. Absent where
   * the controller does that.
   */
  readonly endLeftOver?: (team: string, name: string) => Promise<unknown>
  /** Tells whether we may write resources in this namespace. */
  readonly isWatched: (namespace: string) => boolean
  readonly isReadOnly: IsReadOnly
  /** Makes 8 random hex digits. */
  readonly newSuffix: () => string
  readonly clock: Clock
}

/**
 * Edits MaintenanceWindows. Every method resolves once the change is in force, or after 2 s. Throws EditRefusedError with
 * the words of the store, ResourceApiError when it is unavailable.
 */
export function createWindowEditor(options: WindowEditorOptions): WindowEditor {
  const { windows, store, endLeftOver, isWatched, isReadOnly, newSuffix, clock } = options

  /** The window is written already, so a fault while we wait for it to be in force is not reported as a failure. */
  async function whenInForce(window: MaintenanceWindow): Promise<void> {
    await pollUntil(clock, async () =>
      isDeepStrictEqual({ ...(await windows.get(window.team, window.name)) }, { ...window }),
    ).catch(() => undefined)
  }

  return {
    create: async (team, given, settings) => {
      const name = given ?? nameOfNewWindow(settings.reason, newSuffix())
      await refuseUnlessFree(windows, team, name)
      if (!isWatched(team)) throw notWatched('Maintenance windows', team)
      const metadata = { name, namespace: team, labels: { [ORIGIN_LABEL]: API_ORIGIN } }
      await withinTimeout(clock, () => store.create({ metadata, spec: newWindowSpec(settings) }))
      const window = { team, name, ...settings }
      await whenInForce(window)
      return window
    },
    // Only the fields that differ from what the store has are patched.
    edit: async (team, name, change) => {
      if ((await windows.get(team, name)) === null) return null
      if (!isWatched(team)) throw notWatched('Maintenance windows', team)
      const found = await withinTimeout(clock, () => store.read(team, name))
      if (found === null) return null
      refuseDeleted(found)
      refuseApplied(found, isReadOnly)
      const written = await withinTimeout(clock, () =>
        writeChecked(found, {
          check: () => undefined,
          write: async (object, lock) => {
            const former = settingsOfWindowSpec(object.spec)
            const settings = await change(former)
            if (settings === 'refused') return settings
            return store.patchSpec(refOf(object), { ...changedWindowSpec(former, settings) }, lock)
          },
          read: () => store.read(team, name),
        }),
      )
      if (written === 'refused') return written
      const window = { team, name, ...settingsOfWindowSpec(written.spec) }
      await whenInForce(window)
      return window
    },
    remove: async (team, name) => {
      if ((await windows.get(team, name)) === null) return 'not_found'
      if (!isWatched(team)) throw notWatched('Maintenance windows', team)
      const found = await withinTimeout(clock, () => store.read(team, name))
      if (found !== null) {
        refuseApplied(found, isReadOnly)
        await withinTimeout(clock, () => store.remove(refOf(found)))
      } else await endLeftOver?.(team, name)
      await pollUntil(clock, async () => (await windows.get(team, name)) === null)
      return 'removed'
    },
  }
}

/** Throws EditRefusedError when the window is being deleted. */
function refuseDeleted({ metadata: { name, deletionTimestamp } }: WindowObject): void {
  if (deletionTimestamp === undefined) return
  throw new EditRefusedError(`The maintenance window ${name} is being deleted.`)
}

/** Throws EditRefusedError when the name is taken. */
async function refuseUnlessFree(windows: WindowStore, team: string, name: string): Promise<void> {
  if ((await windows.get(team, name)) !== null) {
    throw new EditRefusedError(`There is a maintenance window called ${name} already.`)
  }
  const page = await windows.list({ team, limit: WINDOWS_PER_TEAM_MAX, cursor: null })
  if (page !== 'bad_cursor' && page.windows.length >= WINDOWS_PER_TEAM_MAX) {
    throw new EditRefusedError(
      `The team has ${WINDOWS_PER_TEAM_MAX} maintenance windows, the most allowed: delete one first.`,
    )
  }
}
