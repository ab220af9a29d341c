import type { Clock } from '../../ports/runtime.ts'
import type { InspectionProgress } from '../../redis/upkeep/inspection/live-inspection.ts'

/** A stream of the process. */
export interface Terminal {
  readonly isTTY?: boolean
  write(text: string): unknown
}

const SHOW_EVERY_MS = 200
const CLEAR_LINE = '\r\u001b[K'

/** A line that is overwritten, on a terminal only. */
export function createProgress(
  stream: Terminal,
  { shards, clock }: { readonly shards: number; readonly clock: Pick<Clock, 'monotonicMs'> },
) {
  let shownAtMs = -Infinity
  return {
    show: ({ pass, shard, queuesDone, queues }: InspectionProgress): void => {
      const nowMs = clock.monotonicMs()
      if (stream.isTTY !== true || nowMs - shownAtMs < SHOW_EVERY_MS) return
      shownAtMs = nowMs
      const again = pass > 1 ? ', looking again at what was found' : ''
      stream.write(`${CLEAR_LINE}shard ${shard + 1} of ${shards}: queue ${queuesDone} of ${queues}${again}`)
    },
    clear: (): void => void (stream.isTTY === true && stream.write(CLEAR_LINE)),
  }
}
