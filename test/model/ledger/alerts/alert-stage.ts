import type { Alert } from '../../../../src/domain/alerts/alert.ts'
import type { ClaimedJob, ClaimedWork, WorkEnd } from '../../../../src/ports/jobs.ts'
import { shardKeys } from '../../../../src/redis/base/engine/engine.ts'
import { alertIn, type AlertRecord } from '../../../../src/redis/base/layout/alert-record.ts'
import { ended } from '../../../support/engine/model-executor.ts'
import type { World } from '../../../support/engine/model-world.ts'

/** The alerts of the default team in the first shard, oldest first. */
export async function alertsOf(world: World, shard = 0): Promise<AlertRecord[]> {
  const key = shardKeys(world.engine, shard).alertRecords('default')
  const texts = await world.connection.hgetall(key)
  return Object.entries(texts)
    .map(([id, text]) => alertIn(id, text) ?? raiseFault(text))
    .toSorted((a, b) => a.alert.id - b.alert.id)
}

function raiseFault(text: string): never {
  throw new Error(`damaged: ${text}`)
}

/** What an alert says, in one word each. */
export function told({ alert }: { readonly alert: Alert }): string {
  const { type, reason, resource, count, suppressedBy } = alert
  const muted = suppressedBy === null ? '' : ` muted by ${suppressedBy}`
  return `${type} ${reason} of ${resource.kind} ${resource.name} ×${count}${muted}`
}

/** The end of a job of a queue that has its alerts switched on. */
export function alerting(
  world: World,
  work: ClaimedWork | undefined,
  change: Partial<ClaimedJob['settings']> & { readonly failed?: boolean } = {},
): WorkEnd {
  if (work?.kind !== 'job') throw new Error('a job is expected')
  const { failed = true, ...settings } = change
  return ended(
    world,
    { ...work, settings: { ...work.settings, alertsEnabled: true, ...settings } },
    { failed },
  )
}
