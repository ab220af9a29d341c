/** A Redis Cluster of a test's own. */
import type { Redis } from 'ioredis'
import { clusterIsWhole, SLOTS, startRedis, type TestRedis } from '../servers/redis-server.ts'
import { until } from '../until.ts'

export type ClusterNode = Pick<TestRedis, 'port' | 'busPort' | 'client'>

/** Two nodes that make one Cluster, each with half of the slots. */
export async function startCluster(settings: readonly string[] = []): Promise<[TestRedis, TestRedis]> {
  const start = (slots: readonly [number, number]) => startRedis({ cluster: true, slots, settings })
  const [first, second] = equalSlots(2).map(start) as [Promise<TestRedis>, Promise<TestRedis>]
  const nodes: [TestRedis, TestRedis] = [await first, await second]
  await joinNodes(nodes)
  return nodes
}

/** The first and last slot of each of so many primaries. */
export function equalSlots(primaries: number): Array<readonly [number, number]> {
  const from = (at: number) => Math.floor((SLOTS * at) / primaries)
  return Array.from({ length: primaries }, (_, at) => [from(at), from(at + 1) - 1] as const)
}

/** Makes one Cluster of nodes that have all slots among them. */
export async function joinNodes(nodes: readonly ClusterNode[]): Promise<void> {
  const [first, ...others] = nodes
  for (const { port, busPort } of others)
    await first?.client.call('CLUSTER', 'MEET', '127.0.0.1', String(port), String(busPort))
  await clusterIsWhole(nodes.map(({ client }) => client))
}

/** Waits until all nodes see the same owners in the same epochs: two moves at once would contradict each other. */
export async function nodesAgree(nodes: ReadonlyArray<Pick<ClusterNode, 'client'>>): Promise<void> {
  await until('the nodes agree', async () => {
    const views = await Promise.all(
      nodes.map(async ({ client }) => viewOf(String(await client.call('CLUSTER', 'NODES')))),
    )
    return new Set(views).size === 1
  })
}

function viewOf(nodesText: string): string {
  const lines = nodesText.split('\n').map((line) => {
    const words = line.split(' ')
    return [words[0], words[6], ...words.slice(8).filter((range) => !range.startsWith('['))].join(' ')
  })
  return lines.toSorted().join('\n')
}

/** @param key one of the slot that is asked for */
export async function ownsSlotOf(node: Redis, key: string): Promise<boolean> {
  const slot = await node.cluster('KEYSLOT', key)
  const nodesText = String(await node.call('CLUSTER', 'NODES'))
  const mine = nodesText.split('\n').find((line) => line.split(' ')[2]?.includes('myself') === true)
  return (mine?.split(' ').slice(8) ?? []).some((range) => {
    const [first, last = first] = range.split('-').map(Number)
    return first !== undefined && last !== undefined && first <= slot && slot <= last
  })
}

export interface SlotMove {
  /** Carries keys of the slot whose place in order says so. Answers how many. */
  some(isMoved: (at: number) => boolean): Promise<number>
  finish(): Promise<void>
  /** The operator thinks better of it. */
  cancel(): Promise<void>
}

/** @param key one of the slot that moves */
export async function beginSlotMove(from: ClusterNode, to: ClusterNode, key: string): Promise<SlotMove> {
  const slot = String(await from.client.cluster('KEYSLOT', key))
  const [fromId, toId] = await Promise.all([from, to].map(({ client }) => client.cluster('MYID')))
  await to.client.call('CLUSTER', 'SETSLOT', slot, 'IMPORTING', String(fromId))
  await from.client.call('CLUSTER', 'SETSLOT', slot, 'MIGRATING', String(toId))

  async function carry(
    [source, target]: readonly [ClusterNode, ClusterNode],
    isMoved: (at: number) => boolean,
  ): Promise<number> {
    const keys = (await source.client.call('CLUSTER', 'GETKEYSINSLOT', slot, '100000')) as string[]
    const moving = keys.toSorted().filter((_, at) => isMoved(at))
    if (moving.length === 0) return 0
    const words = ['127.0.0.1', String(target.port), '', '0', '5000', 'KEYS', ...moving]
    await source.client.call('MIGRATE', ...words)
    return moving.length
  }

  const all = () => true
  return {
    some: (isMoved) => carry([from, to], isMoved),
    finish: async () => {
      await carry([from, to], all)
      for (const { client } of [to, from]) await client.call('CLUSTER', 'SETSLOT', slot, 'NODE', String(toId))
    },
    cancel: async () => {
      await from.client.call('CLUSTER', 'SETSLOT', slot, 'STABLE')
      await carry([to, from], all)
      await to.client.call('CLUSTER', 'SETSLOT', slot, 'STABLE')
    },
  }
}
