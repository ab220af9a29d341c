import type { RecordedResponses } from '../domain/jobs/queue-settings.ts'

const RECORDED_RESPONSES = { All: 'all', None: 'none' } as const
type SpecOfRecorded = keyof typeof RECORDED_RESPONSES

/** @param spec absent where the definition in the cluster is of a version without it */
export function recordedOf(spec: SpecOfRecorded | undefined): RecordedResponses {
  return RECORDED_RESPONSES[spec ?? 'All']
}

export function specOfRecorded(responses: RecordedResponses): SpecOfRecorded {
  return responses === 'all' ? 'All' : 'None'
}
