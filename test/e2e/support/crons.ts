/** Crons of a release: made all at once, and followed from tick to tick. */
import type { CronRun, CronRunList } from '../../../clients/typescript/src/generated/wire.ts'
import type { KindCluster } from '../../support/cluster/kind-cluster.ts'
import { until } from '../../support/until.ts'

export const MINUTE_MS = 60_000
/** A tick to wait for, and what becomes of it. */
const TICK_TIMEOUT_MS = 2 * MINUTE_MS

/** Specs of HttpCrons by their names. */
export type CronSpecs = Readonly<Record<string, object>>

/** Creates them or changes them. Throws with the API server's words if it refuses one. */
export async function applyCrons({ kubernetes, namespace }: KindCluster, specs: CronSpecs): Promise<void> {
  for (const [name, spec] of Object.entries(specs)) {
    const cron = { apiVersion: 'punctual.dev/v1alpha1', kind: 'HttpCron', metadata: { name }, spec }
    await kubernetes.apply(JSON.stringify(cron), { namespace })
  }
}

/** The same, and waits until they tick. Answers their ids. */
export async function applyCronsInForce(cluster: KindCluster, specs: CronSpecs): Promise<number[]> {
  await applyCrons(cluster, specs)
  const names = Object.keys(specs)
  await cluster.ready(...names.map((name) => `hc/${name}`))
  const idOf = async (name: string) => {
    const path = `/apis/punctual.dev/v1alpha1/namespaces/${cluster.namespace}/httpcrons/${name}`
    const { status } = await cluster.kubernetes.send('GET', path)
    return Number(status?.['id'])
  }
  return Promise.all(names.map(idOf))
}

/** Oldest first. */
export async function runsOf({ punctual }: KindCluster, id: number): Promise<CronRun[]> {
  const { body } = await punctual.send<CronRunList>('GET', `/api/crons/${id}/runs`)
  return body.runs.toReversed()
}

/** Answers all runs once those of so many ticks have ended. */
export function endedRuns(cluster: KindCluster, id: number, count: number): Promise<CronRun[]> {
  const ended = async () => {
    const runs = await runsOf(cluster, id)
    return runs.length >= count && runs.every(({ result }) => result !== 'running') ? runs : null
  }
  return until(`${count} runs of cron ${id} have ended`, ended, TICK_TIMEOUT_MS)
}

/** Every minute, as the API writes times. */
export function ticksFrom(firstMs: number, count: number): string[] {
  return Array.from({ length: count }, (_, index) =>
    new Date(firstMs + index * MINUTE_MS).toISOString().replace('Z', '+00:00'),
  )
}
