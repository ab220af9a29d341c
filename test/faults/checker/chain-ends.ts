import type { Job } from '../../../clients/typescript/src/generated/wire.ts'
import type { ApiClient } from '../../support/servers/api-client.ts'
import { PUSH_HEADER } from '../load/push-mix.ts'
import type { PushRecord } from '../load/push-record.ts'
import type { ChainEnd } from './judge.ts'

const READS_AT_ONCE = 16
const PAUSE_MS = 200

const isOver = (end: ChainEnd | null) => end === null || end.finalStatus !== null

/**
 * Reads the chain of every accepted push until it has ended or is gone, or the time is over; then as it stands. Answers
 * them by the number of the push. Each that has not ended is read at least twice, however long the first reads take, as a
 * machine that is busy may take all the time for them. Throws when the API does not tell of a job, which says nothing of
 * the job.
 */
export async function readChainEnds(
  client: ApiClient,
  accepted: readonly PushRecord[],
  timeoutMs: number,
): Promise<Map<number, ChainEnd>> {
  const ends = new Map<number, ChainEnd>()
  const deadline = performance.now() + timeoutMs
  let open = accepted
  for (let isLast = false; ;) {
    const again: PushRecord[] = []
    const untold: string[] = []
    const left = open.values()
    const lanes = Array.from({ length: READS_AT_ONCE }, async () => {
      for (const record of left) {
        const end = await readEnd(client, record)
        if (typeof end === 'string') untold.push(end)
        else if (end !== null) ends.set(record.draw.n, end)
        if (typeof end === 'string' || !isOver(end)) again.push(record)
      }
    })
    await Promise.all(lanes)
    open = again
    if (open.length === 0) return ends
    if (isLast) {
      if (untold.length > 0) throw new Error(`${untold.length} chains could not be read: ${untold[0]}`)
      return ends
    }
    isLast = performance.now() > deadline
    await new Promise((resolve) => setTimeout(resolve, PAUSE_MS))
  }
}

/**
 * null: the job is gone, or its id is another's by now, as a Redis gives ids again that it has forgotten. A text: what the
 * API answered in place of the job.
 */
async function readEnd(client: ApiClient, { draw, jobId }: PushRecord): Promise<ChainEnd | null | string> {
  const { status, body } = await client.send<Job>('GET', `/api/jobs/${jobId}`)
  if (status === 404) return null
  if (status !== 200) return `job ${jobId} is answered ${status} ${JSON.stringify(body)}`
  if (body.headers?.[PUSH_HEADER] !== String(draw.n)) return null
  return {
    finalStatus: body.final_status === 'retrying' ? null : body.final_status,
    attempts: body.chain.map(({ attempt_number: attempt }) => attempt),
    startedAtMs: body.chain.flatMap(({ started_at: at }) => (at === null ? [] : [Date.parse(at)])),
  }
}
