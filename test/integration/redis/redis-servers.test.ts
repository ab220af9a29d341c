import { expect, test } from 'vitest'
import { connectRedis, serversOf } from '../../../src/redis/base/client/connection.ts'
import { quietLogger } from '../../support/quiet.ts'
import { startCluster } from '../../support/redis/redis-cluster.ts'
import { startRedis } from '../../support/servers/redis-server.ts'
import { systemClock } from '../../../src/telemetry/system-clock.ts'

const connect = (url: string) =>
  connectRedis({ url, commandTimeoutMs: 5_000, name: 'test', clock: systemClock, logger: quietLogger })

test('the server of a connection is where it leads, not what the URL says', async () => {
  const redis = await startRedis()
  const connection = await connect(redis.url.replace('127.0.0.1', 'localhost'))
  expect(serversOf(connection)).toEqual(['127.0.0.1'])
  connection.disconnect()
  await redis.stop()
})

test('a Cluster has all its nodes for servers', async () => {
  const nodes = await startCluster()
  const connection = await connect(nodes[0].url)
  const servers = serversOf(connection)
  expect(new Set(servers)).toEqual(new Set(['127.0.0.1']))
  // By name, and the peer where there is a connection.
  expect(servers.length).toBeGreaterThan(2)
  connection.disconnect()
  await Promise.all(nodes.map((node) => node.stop()))
})
