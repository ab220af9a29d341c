import { isDeepStrictEqual } from 'node:util'
import { EditRefusedError } from '../../domain/errors.ts'
import type { MaintenanceWindow } from '../../domain/windows/maintenance-window.ts'
import type { KubeObject, ResourceWriter } from '../../ports/kubernetes.ts'
import type { Clock } from '../../ports/runtime.ts'
import type { WindowStore } from '../../ports/windows.ts'
import { newWindowSpec } from '../../resources/manifests/window-manifest.ts'
import { API_ORIGIN, ORIGIN_LABEL } from '../../resources/queue-owner.ts'
import { specOfWindowSettings } from '../../resources/window-spec.ts'
import { notWatched, pollUntil, refOf, withinTimeout } from './resource-edit.ts'

export interface ResourceWindowsOptions {
  readonly windows: Pick<WindowStore, 'get'>
  readonly writer: Pick<ResourceWriter<KubeObject>, 'create' | 'patchSpec' | 'remove' | 'read'>
  /** Whether we may write resources in this namespace. */
  readonly isWatched: (namespace: string) => boolean
  readonly clock: Clock
}

/** Maintenance windows as resources. */
export interface ResourceWindows {
  /** Resolves once the window is in force as given, or after 2 s. */
  write(window: MaintenanceWindow): Promise<void>
  /** As `write`; also when the resource is gone already. */
  remove(team: string, name: string): Promise<'removed'>
}

/** Throws EditRefusedError with the API server's own words, ResourceApiError when it is unavailable. */
export function createResourceWindows(options: ResourceWindowsOptions): ResourceWindows {
  const { windows, writer, isWatched, clock } = options

  async function save({ team, name, ...settings }: MaintenanceWindow): Promise<void> {
    const found = await writer.read(team, name)
    if (found === null) {
      const metadata = { name, namespace: team, labels: { [ORIGIN_LABEL]: API_ORIGIN } }
      await writer.create({ metadata, spec: newWindowSpec(settings) })
      return
    }
    if (found.metadata.deletionTimestamp !== undefined) {
      throw new EditRefusedError(`The maintenance window ${name} is being deleted.`)
    }
    await writer.patchSpec(refOf(found), { ...specOfWindowSettings(settings) }, null)
  }

  return {
    write: async (window) => {
      if (!isWatched(window.team)) throw notWatched('Maintenance windows', window.team)
      await withinTimeout(clock, () => save(window))
      await pollUntil(clock, async () =>
        isDeepStrictEqual({ ...(await windows.get(window.team, window.name)) }, { ...window }),
      )
    },
    remove: async (team, name) => {
      if (!isWatched(team)) throw notWatched('Maintenance windows', team)
      const found = await withinTimeout(clock, () => writer.read(team, name))
      if (found !== null) await withinTimeout(clock, () => writer.remove(refOf(found)))
      await pollUntil(clock, async () => (await windows.get(team, name)) === null)
      return 'removed'
    },
  }
}
