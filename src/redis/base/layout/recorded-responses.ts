import type { JobRequest } from '../../../domain/jobs/job.ts'
import type { RecordedResponses } from '../../../domain/jobs/queue-settings.ts'

/** How records say what is kept of responses: a number, 0 or absent = all. */
export function encodeRecorded(responses: RecordedResponses | undefined): number {
  return responses === 'none' ? 1 : 0
}

/** A number that only another version knows is one of something less: this version keeps nothing then. */
export function decodeRecorded(code: number | undefined): RecordedResponses {
  return code === undefined || code === 0 ? 'all' : 'none'
}

/** As a part of a request, which has it only where it is not that of the queue. */
export function decodeOwnRecorded(code: number | undefined): Pick<JobRequest, 'recordResponses'> {
  return decodeRecorded(code) === 'all' ? {} : { recordResponses: 'none' }
}
