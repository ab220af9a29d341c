import { expect, test } from 'vitest'
import { leaderOnlyWriter } from '../../../../src/kubernetes/leader-election/leader-only-writer.ts'
import type { ResourceWriter } from '../../../../src/ports/kubernetes.ts'
import type { KubeObject, ObjectRef } from '../../../../src/ports/resource-store.ts'
import { kubeObject } from '../kube-objects.ts'

const OBJECT = kubeObject()
const REF: ObjectRef = { apiVersion: 'v1', kind: 'HttpQueue', namespace: 'default', name: 'q', uid: 'uid-1' }

function setUp() {
  const calls: string[] = []
  const noted =
    <Answer>(name: string, answer: Answer) =>
    async (...args: readonly unknown[]): Promise<Answer> => {
      calls.push(`${name}(${args.length})`)
      return answer
    }
  const inner: ResourceWriter<KubeObject> = {
    read: noted('read', OBJECT),
    readAll: noted('readAll', [OBJECT]),
    create: noted('create', OBJECT),
    patchSpec: noted('patchSpec', OBJECT),
    applyStatus: noted('applyStatus', OBJECT),
    setFinalizer: noted('setFinalizer', OBJECT),
    remove: noted('remove', undefined),
  }
  let isLeader = true
  const writer = leaderOnlyWriter(inner, { isLeader: () => isLeader })
  const writes = [
    () => writer.create({ metadata: { name: 'q', namespace: 'default' }, spec: {} }),
    () => writer.patchSpec(REF, {}, null),
    () => writer.applyStatus(REF, {}),
    () => writer.setFinalizer(OBJECT, 'punctual.dev/queue', true),
    () => writer.remove(REF),
  ]
  return { calls, writer, writes, lose: () => (isLeader = false) }
}

test('a leader writes as ever', async () => {
  const { calls, writes } = setUp()
  for (const write of writes) await write()
  expect(calls).toEqual(['create(1)', 'patchSpec(3)', 'applyStatus(2)', 'setFinalizer(3)', 'remove(1)'])
})

test('a process that no longer leads may read but not write', async () => {
  const { calls, writer, writes, lose } = setUp()
  lose()
  for (const write of writes) await expect(write()).rejects.toMatchObject({ fault: 'unavailable' })
  expect(calls).toEqual([])
  expect(await writer.read('default', 'q')).toBe(OBJECT)
  expect(await writer.readAll('default')).toEqual([OBJECT])
})
