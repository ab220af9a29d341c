import { afterAll, beforeAll, expect, test } from 'vitest'
import { until } from '../../support/until.ts'
import { openSharedRelease } from '../support/open-release.ts'
import { reaches } from '../support/reach.ts'
import { redisUsersOf } from '../support/redis-users.ts'

const cluster = openSharedRelease()

const executor = { namespace: cluster.namespace, workload: 'deployment/punctual-executor' }
const elsewhere = { namespace: 'targets', workload: 'deployment/target' }
const fromExecutor = (host: string, port: number) => reaches(cluster, executor, { host, port })
const fromElsewhere = (host: string, port: number) => reaches(cluster, elsewhere, { host, port })

export function network(): void {
  beforeAll(async () => {
    // Calls that take long keep an executor up.
    await cluster.punctual.push({ queue: 'long', url: cluster.target.url('long', { delayMs: 25_000 }) })
    await until('an executor is ready', async () => (await cluster.executors()).ready > 0, 60_000)
  })

  afterAll(() => cluster.close())

  test('an executor reaches its target and nothing else of the cluster', async () => {
    const apiServer = await cluster.kubernetes.send('GET', '/api/v1/namespaces/default/services/kubernetes')

    expect(await fromExecutor('target.targets.svc.cluster.local', 80)).toBe(true)
    expect(await fromExecutor('punctual-redis', 6379)).toBe(true)
    expect(await fromExecutor(String(apiServer.spec?.['clusterIP']), 443)).toBe(false)
    expect(await fromExecutor('169.254.169.254', 80)).toBe(false)
    expect(await fromExecutor('punctual-api', 80)).toBe(false)
  })

  test.each([
    ['api', 'punctual-api'],
    ['executor', 'punctual-executor'],
    ['controller', 'default'],
  ])('each %s logs in to Redis as %s', async (component, user) => {
    expect(await redisUsersOf(cluster, component)).toEqual([user])
  })

  test('nobody but our own pods reaches Redis', async () => {
    const redis = `punctual-redis.${cluster.namespace}.svc.cluster.local`

    expect(await fromElsewhere(`punctual-api.${cluster.namespace}.svc.cluster.local`, 80)).toBe(true)
    expect(await fromElsewhere(redis, 6379)).toBe(false)
  })
}
