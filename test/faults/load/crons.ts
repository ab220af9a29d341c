import type { CronRunList } from '../../../clients/typescript/src/generated/wire.ts'
import type { ApiClient } from '../../support/servers/api-client.ts'

/** What the crons of a stage call lies below it. */
export const TICKS_PATH = '/ticks'
const CRONS = 3
const MINUTE_MS = 60_000

/** Crons that tick each minute, and run for each tick whatever comes between. Answers their ids. */
export async function makeCrons(client: ApiClient, targetUrl: string): Promise<number[]> {
  const ids: number[] = []
  for (let i = 0; i < CRONS; i += 1) {
    const url = `${targetUrl}${TICKS_PATH}/${i}`
    const cron = { name: `tick-${i}`, url, cron_expression: '* * * * *', missed_run_policy: 'all' }
    const { status, body } = await client.send<{ id: number }>('POST', '/api/crons', cron)
    if (status !== 201) throw new Error(`a cron is answered with ${status}: ${JSON.stringify(body)}`)
    ids.push(body.id)
  }
  return ids
}

/** The ticks of a cron after a time that have a run, in Unix ms; one that has several is there as often. */
export async function readTicks(client: ApiClient, cronId: number, sinceMs: number): Promise<number[]> {
  const { status, body } = await client.send<CronRunList>('GET', `/api/crons/${cronId}/runs?limit=100`)
  if (status !== 200) return []
  return body.runs.map((run) => Date.parse(run.scheduled_at)).filter((atMs) => atMs > sinceMs)
}

/** Those that are due between two times. */
export function ticksBetween(fromMs: number, toMs: number): number[] {
  const first = Math.floor(fromMs / MINUTE_MS) + 1
  return Array.from(
    { length: Math.max(0, Math.floor(toMs / MINUTE_MS) - first + 1) },
    (_, at) => (first + at) * MINUTE_MS,
  )
}
