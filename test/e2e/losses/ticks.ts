import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { CronRun } from '../../../clients/typescript/src/generated/wire.ts'
import type { KindCluster } from '../../support/cluster/kind-cluster.ts'
import { until } from '../../support/until.ts'
import { applyCronsInForce, endedRuns, MINUTE_MS, runsOf, ticksFrom } from '../support/crons.ts'
import { EXECUTOR_PODS, killNow, leaderOf } from '../support/kills.ts'
import { openOwnRelease } from '../support/open-release.ts'

/** Executors are asked for 20 s before a tick. */
const ASKED_BEFORE_MS = 25_000

let cluster: KindCluster

/** Of those due at a time or later. */
async function runsFrom(id: number, firstMs: number): Promise<CronRun[]> {
  const runs = await runsOf(cluster, id)
  return runs.filter(({ scheduled_at: tick }) => Date.parse(tick) >= firstMs)
}

export function lostTicks(): void {
  beforeAll(async () => {
    cluster = await openOwnRelease('losses')
  })

  afterAll(async () => {
    // They would tick on.
    await cluster.inNamespace('delete', 'hc', '--all', '--timeout=30s')
    await cluster.close()
  })

  test('ticks are neither lost nor doubled when the leader and the executors die about the minute', async () => {
    const names = Array.from({ length: 20 }, (_, index) => `dying-${index}`)
    const url = cluster.target.url('dying')
    await cluster.applyQueue('dying', {})
    const specOf = (index: number) => {
      const cron = { url, cronExpression: '* * * * *' }
      return index % 2 === 0 ? cron : { ...cron, queue: 'dying' }
    }
    const specs = Object.fromEntries(names.map((name, index) => [name, specOf(index)]))
    const ids = await applyCronsInForce(cluster, specs)
    const first = Math.ceil((Date.now() + ASKED_BEFORE_MS) / MINUTE_MS) * MINUTE_MS
    // Once a little before the tick and once just after the next.
    for (const aboutMs of [first - 500, first + MINUTE_MS + 50]) {
      await sleep(aboutMs - Date.now())
      const [leader, executors] = await Promise.all([
        leaderOf(cluster).then((name) => killNow(cluster, name)),
        killNow(cluster, ...EXECUTOR_PODS),
      ])
      expect([leader, executors]).toEqual([
        expect.stringMatching(/^pod "punctual-controller-\S+" .*deleted/),
        expect.stringMatching(/^pod "punctual-executor-\S+" .*deleted/),
      ])
    }
    // Few more ticks are wanted while what was lost is made up for.
    for (const id of ids) {
      const isTold = async () => (await runsFrom(id, first)).length >= 2
      await until('both ticks are told of', isTold, 2 * MINUTE_MS)
      expect((await cluster.punctual.send('POST', `/api/crons/${id}/pause`)).status).toBe(200)
    }
    const runs = await Promise.all(ids.map((id) => endedRuns(cluster, id, 2)))

    for (const id of ids) {
      const both = (await runsFrom(id, first)).slice(0, 2)
      expect(both.map(({ scheduled_at: tick }) => tick)).toEqual(ticksFrom(first, 2))
      expect(both.map(({ result }) => result)).toEqual(['succeeded', 'succeeded'])
    }
    // A call in flight at the kill is made once more, with the same id.
    const { calls } = await cluster.target.report('dying')
    expect(Object.keys(calls)).toHaveLength(runs.flat().length)
  })
}
