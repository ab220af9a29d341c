import { isDeepStrictEqual } from 'node:util'
import { EditRefusedError } from '../../domain/errors.ts'
import type { MaintenanceWindow } from '../../domain/windows/maintenance-window.ts'
import type { KubeObject, ResourceWriter } from '../../ports/kubernetes.ts'
import type { Clock } from '../../ports/runtime.ts'
import type { WindowChange, WindowStore } from '../../ports/windows.ts'
import type { MaintenanceWindowSpec } from '../../resources/generated/kinds.ts'
import { newWindowSpec } from '../../resources/manifests/window-manifest.ts'
import { API_ORIGIN, ORIGIN_LABEL } from '../../resources/queue-owner.ts'
import { changedWindowSpec, settingsOfWindowSpec } from '../../resources/window-spec.ts'
import { refuseApplied, type IsReadOnly } from './managed-resources.ts'
import { notWatched, pollUntil, refOf, withinTimeout, writeChecked } from './resource-edit.ts'

interface WindowObject extends KubeObject {
  readonly spec: MaintenanceWindowSpec
}

export interface ResourceWindowsOptions {
  readonly windows: Pick<WindowStore, 'get'>
  readonly writer: Pick<ResourceWriter<WindowObject>, 'create' | 'patchSpec' | 'remove' | 'read'>
  /** Whether we may write resources in this namespace. */
  readonly isWatched: (namespace: string) => boolean
  readonly isReadOnly: IsReadOnly
  readonly clock: Clock
}

/** Maintenance windows as resources. */
export interface ResourceWindows {
  /** Resolves once the window is in force as given, or after 2 s. The API server refuses a name in use. */
  create(window: MaintenanceWindow): Promise<void>
  /**
   * As `create`. Begins with what the API server has, and patches only the fields that differ then.
   * @returns the window that the API server has now; null when there is no resource
   */
  edit(
    window: Pick<MaintenanceWindow, 'team' | 'name'>,
    change: WindowChange,
  ): Promise<MaintenanceWindow | 'refused' | null>
  /** As `create`; also when the resource is gone already. */
  remove(team: string, name: string): Promise<'removed'>
}

/** Throws EditRefusedError with the API server's own words, ResourceApiError when it is unavailable. */
export function createResourceWindows(options: ResourceWindowsOptions): ResourceWindows {
  const { windows, writer, isWatched, isReadOnly, clock } = options

  /** The window is written: who cannot see now whether it is in force does not say that it failed. */
  async function whenInForce(window: MaintenanceWindow): Promise<void> {
    await pollUntil(clock, async () =>
      isDeepStrictEqual({ ...(await windows.get(window.team, window.name)) }, { ...window }),
    ).catch(() => undefined)
  }

  return {
    create: async (window) => {
      const { team, name, ...settings } = window
      if (!isWatched(team)) throw notWatched('Maintenance windows', team)
      const metadata = { name, namespace: team, labels: { [ORIGIN_LABEL]: API_ORIGIN } }
      await withinTimeout(clock, () => writer.create({ metadata, spec: newWindowSpec(settings) }))
      await whenInForce(window)
    },
    edit: async ({ team, name }, change) => {
      if (!isWatched(team)) throw notWatched('Maintenance windows', team)
      const found = await withinTimeout(clock, () => writer.read(team, name))
      if (found === null) return null
      if (found.metadata.deletionTimestamp !== undefined) {
        throw new EditRefusedError(`The maintenance window ${name} is being deleted.`)
      }
      refuseApplied(found, isReadOnly)
      const written = await withinTimeout(clock, () =>
        writeChecked(found, {
          check: () => undefined,
          write: async (object, lock) => {
            const former = settingsOfWindowSpec(object.spec)
            const settings = await change(former)
            if (settings === 'refused') return settings
            return writer.patchSpec(refOf(object), { ...changedWindowSpec(former, settings) }, lock)
          },
          read: () => writer.read(team, name),
        }),
      )
      if (written === 'refused') return written
      const window = { team, name, ...settingsOfWindowSpec(written.spec) }
      await whenInForce(window)
      return window
    },
    remove: async (team, name) => {
      if (!isWatched(team)) throw notWatched('Maintenance windows', team)
      const found = await withinTimeout(clock, () => writer.read(team, name))
      if (found !== null) {
        refuseApplied(found, isReadOnly)
        await withinTimeout(clock, () => writer.remove(refOf(found)))
      }
      await pollUntil(clock, async () => (await windows.get(team, name)) === null)
      return 'removed'
    },
  }
}
