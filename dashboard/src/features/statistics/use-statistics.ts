import type { Inputs, StatisticsPoint } from '../../../../clients/typescript/src/client.ts'
import { useRead } from '../../api/reads.ts'
import { useNow } from '../../ui/text/time.tsx'
import { useRange } from './range-choice.tsx'
import { sinceOf, spanBefore } from './ranges.ts'

type Name = 'readStatistics' | 'readQueueStatistics'
type Span = Pick<Inputs['readStatistics'], 'since' | 'until' | 'step'>

/**
 * The statistics of the range of the address. The span before it is over and does not change: it is read once, and not
 * again with each hint.
 * @param queueId absent = of the team
 */
export function useStatistics(queueId?: number) {
  const range = useRange()
  const since = sinceOf(range, useNow())
  const { step } = range
  const [name, inputOf] = operationOf(queueId)
  const read = useRead(name, inputOf({ since, step }))
  const span = spanBefore(range, since)
  const earlier = useRead(name, inputOf({ ...span, step }), { isLive: false, isWanted: span !== null })
  // What was read for another range may be here for a moment.
  const isSame = span !== null && earlier.data?.step === read.data?.step
  const before: readonly StatisticsPoint[] | null = isSame ? (earlier.data?.points ?? null) : null
  return { range, since, read, before }
}

function operationOf(queueId: number | undefined): readonly [Name, (span: Span) => Inputs[Name]] {
  if (queueId === undefined) return ['readStatistics', (span) => span]
  return ['readQueueStatistics', (span) => ({ queue_id: queueId, ...span })]
}
