import type { AlertList } from '../../../clients/typescript/src/generated/wire.ts'
import type { ApiClient } from '../../support/servers/api-client.ts'

/** How often a queue has raised alerts of each type. */
export interface AlertCounts {
  /** One for the first failure of each chain. */
  readonly warning: number
  /** One for each chain that is a dead letter. */
  readonly failure: number
}

export async function readAlertCounts(client: ApiClient, queue: string): Promise<AlertCounts> {
  return {
    warning: await countOf(client, queue, 'warning'),
    failure: await countOf(client, queue, 'failure'),
  }
}

async function countOf(client: ApiClient, queue: string, type: keyof AlertCounts): Promise<number> {
  let cursor: string | null = ''
  let sum = 0
  while (cursor !== null) {
    const query = new URLSearchParams({ type, limit: '1000', ...(cursor !== '' && { cursor }) })
    const { status, body } = await client.send<AlertList>('GET', `/api/alerts?${query.toString()}`)
    if (status !== 200) throw new Error(`alerts are answered with ${status}`)
    // What is lost is counted by itself.
    const own = body.alerts.filter(
      ({ resource, reason }) => resource.name === queue && reason !== 'jobs_lost',
    )
    sum += own.reduce((count, alert) => count + alert.count, 0)
    cursor = body.next_cursor
  }
  return sum
}
