import type { JobFilter } from '../../../../domain/jobs/job-filter.ts'
import { END_CODES } from '../../../base/layout/finished-record.ts'

/**
 * Finds texts that stand in the summary of each chain that matches, as `encodeFinished` writes it. Redis looks for
 * them, so that most summaries need not be read. The text of a host qualifies only where its block says that hosts are
 * plain.
 */
export function needlesIn({ finalStatus, host, tag }: JobFilter): readonly string[] {
  return [
    ...(tag === null ? [] : [JSON.stringify({ [tag.name]: tag.value }).slice(1, -1)]),
    ...(host === null ? [] : [JSON.stringify(host).slice(1, -1)]),
    ...(finalStatus !== null && finalStatus in END_CODES
      ? [`["${END_CODES[finalStatus as keyof typeof END_CODES]}"`]
      : []),
  ]
}
