import { describe, expect, test } from 'vitest'
import { NATIVE, SOCKET_WRITES, type CallFrame } from '../../../bench/profiling/places.ts'
import { allocationShares, cpuShares, type AllocationNode } from '../../../bench/profiling/shares.ts'

const root: CallFrame = { functionName: '(root)', url: '' }
const ours: CallFrame = { functionName: 'push', url: 'file:///x/dist/src/api/push.js' }
const hash: CallFrame = { functionName: 'hash', url: 'node:internal/crypto/hash' }
const digest: CallFrame = { functionName: 'oneShotDigest', url: '' }
const write: CallFrame = { functionName: 'writev', url: '' }

describe('shares of the CPU', () => {
  const nodes = [
    { id: 1, callFrame: root, children: [2, 6, 7] },
    { id: 2, callFrame: ours, children: [3, 5] },
    { id: 3, callFrame: hash, children: [4] },
    { id: 4, callFrame: digest },
    { id: 5, callFrame: write },
    { id: 6, callFrame: { functionName: '(idle)', url: '' } },
    { id: 7, callFrame: { functionName: '(program)', url: '' } },
  ]

  test('are of the busy time, and a library counts as its caller', () => {
    const samples = [2, 4, 6, 5, 7, 3]
    const timeDeltas = [100, 300, 5_000, 400, 100, 100]
    expect(cpuShares({ nodes, samples, timeDeltas })).toEqual({
      'src/api': 0.5,
      [SOCKET_WRITES]: 0.4,
      [NATIVE]: 0.1,
    })
  })

  test('are refused of a process that did nothing', () => {
    expect(() => cpuShares({ nodes, samples: [6], timeDeltas: [100] })).toThrow('empty')
  })
})

test('shares of the allocations are of the bytes a function allocated itself', () => {
  const node = (callFrame: CallFrame, selfSize: number, children: AllocationNode[] = []): AllocationNode => ({
    callFrame,
    selfSize,
    children,
  })
  const undici: CallFrame = { functionName: 'write', url: '/x/node_modules/undici/lib/client.js' }
  const head = node(root, 10, [node(ours, 30, [node(hash, 20, [node(digest, 10)]), node(undici, 30)])])
  expect(allocationShares(head)).toEqual({ [NATIVE]: 0.1, 'src/api': 0.6, '`undici`': 0.3 })
})
