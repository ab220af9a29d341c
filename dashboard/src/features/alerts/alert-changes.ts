import type { Alert, Inputs } from '../../../../clients/typescript/src/client.ts'
import { useChange } from '../../editing/changes.ts'
import { isAbsent } from '../../format/faults.ts'
import { alerts } from './alert-text.ts'
import { bodyOf } from './alert-filter.ts'

/** Which alerts are meant: those with these ids, or all that a filter finds. */
export type Meant = readonly number[] | Inputs['deleteAlerts']

function isIds(meant: Meant): meant is readonly number[] {
  return Array.isArray(meant)
}

/** One after another. One that somebody else has deleted meanwhile does not count. */
async function countEach(ids: readonly number[], change: (id: number) => Promise<unknown>): Promise<number> {
  let done = 0
  for (const id of ids) {
    try {
      await change(id)
      done += 1
    } catch (fault) {
      if (!isAbsent(fault)) throw fault
    }
  }
  return done
}

export function useMarkRead(onDone?: () => void) {
  return useChange(
    async (api, meant: Meant) =>
      isIds(meant)
        ? countEach(meant, (id) => api.markAlertRead({ alert_id: id }))
        : (await api.markAlertsRead({ body: bodyOf(meant) })).updated,
    {
      said: (count) => `${alerts(count)} marked as read`,
      ...(onDone !== undefined && { onDone }),
    },
  )
}

export function useDelete(onDone: () => void) {
  return useChange(
    async (api, meant: Meant) =>
      isIds(meant)
        ? countEach(meant, (id) => api.deleteAlert({ alert_id: id }))
        : (await api.deleteAlerts(meant)).deleted,
    { said: (count) => `${alerts(count)} deleted`, isFaultShown: true, onDone },
  )
}

/** The ids of those that are not read yet. */
export function unreadOf(rows: readonly Alert[]): readonly number[] {
  return rows.filter(({ read }) => !read).map(({ id }) => id)
}
