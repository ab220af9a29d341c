import { BenchError } from '../harness/bench-error.ts'
import { NATIVE, placeOf, type CallFrame } from './places.ts'

/** The parts of the inspector's CPU profile that count here. */
export interface CpuProfile {
  readonly nodes: ReadonlyArray<{
    readonly id: number
    readonly callFrame: CallFrame
    readonly children?: readonly number[]
  }>
  /** The node at work at each sample, and the µs since the sample before. */
  readonly samples: readonly number[]
  readonly timeDeltas: readonly number[]
}

/** A node of the inspector's sampling heap profile. */
export interface AllocationNode {
  readonly callFrame: CallFrame
  readonly selfSize: number
  readonly children: readonly AllocationNode[]
}

/** Shares of the busy time by place. */
export function cpuShares({ nodes, samples, timeDeltas }: CpuProfile): Record<string, number> {
  const microsOf = new Map<number, number>()
  samples.forEach((id, index) => microsOf.set(id, (microsOf.get(id) ?? 0) + (timeDeltas[index] ?? 0)))
  const byId = new Map(nodes.map((node) => [node.id, node]))
  const children = new Set(nodes.flatMap((node) => node.children ?? []))
  const found = new Map<string, number>()
  const open = nodes.filter(({ id }) => !children.has(id)).map((node) => ({ node, callersPlace: NATIVE }))
  for (let one = open.pop(); one !== undefined; one = open.pop()) {
    const { node, callersPlace } = one
    if (node.callFrame.functionName === '(idle)') continue
    const place = placeOf(node.callFrame, callersPlace)
    found.set(place, (found.get(place) ?? 0) + (microsOf.get(node.id) ?? 0))
    for (const id of node.children ?? []) {
      const child = byId.get(id)
      if (child !== undefined) open.push({ node: child, callersPlace: place })
    }
  }
  return sharesOf(found)
}

/** Shares of the allocated bytes by place. */
export function allocationShares(head: AllocationNode): Record<string, number> {
  const found = new Map<string, number>()
  const open = [{ node: head, callersPlace: NATIVE }]
  for (let one = open.pop(); one !== undefined; one = open.pop()) {
    const place = placeOf(one.node.callFrame, one.callersPlace)
    found.set(place, (found.get(place) ?? 0) + one.node.selfSize)
    for (const node of one.node.children) open.push({ node, callersPlace: place })
  }
  return sharesOf(found)
}

function sharesOf(found: ReadonlyMap<string, number>): Record<string, number> {
  const total = [...found.values()].reduce((sum, value) => sum + value, 0)
  if (total === 0) throw new BenchError('the profile is empty')
  return Object.fromEntries([...found].map(([place, value]) => [place, value / total]))
}
