import { useEffect } from 'preact/hooks'
import type { MaintenanceWindow } from '../../../clients/typescript/src/client.ts'
import { liveState } from './live.ts'
import { useMay } from '../session/me.ts'
import { useRead } from './reads.ts'

/** A team has no more. */
const WINDOWS_MAX = 100
/** Another clock than the server's must not make it ask all the time. */
const SOONEST_MS = 5_000
const LATEST_MS = 3_600_000

/** The windows of the team, read again when one of them opens or closes, of which no hint tells. */
export function useWindows() {
  const windows = useRead('listWindows', { limit: WINDOWS_MAX }, { isWanted: useMay('read') })
  const { data, dataUpdatedAt: readMs, refetch } = windows
  useEffect(() => {
    const waitMs = nextEdgeMs(data?.windows ?? []) - Date.now()
    const timer = setTimeout(
      () => liveState() !== 'paused' && void refetch(),
      Math.min(LATEST_MS, Math.max(SOONEST_MS, waitMs + SOONEST_MS / 10)),
    )
    return () => clearTimeout(timer)
  }, [readMs])
  return windows
}

function nextEdgeMs(windows: readonly MaintenanceWindow[]): number {
  const edges = windows.flatMap(({ ends_at: end, next_start_at: next }) => [end, next])
  return Math.min(...edges.flatMap((edge) => (edge === null ? [] : [Date.parse(edge)])))
}
