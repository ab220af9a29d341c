import { expect, test } from 'vitest'
import { fieldsOf } from '../../../../../src/redis/base/installation/server-look.ts'
import { onlineReplicas } from '../../../../../src/redis/base/durability/replicas.ts'
import { ReplicasNeeded } from '../../../../../src/redis/base/durability/replicas-needed.ts'

const at = (nowMs: number, isSettled = false, id = 'a', before = '000') => ({
  nowMs,
  isSettled,
  history: { id, before },
})

test('one replica at least must confirm, also where there is none', () => {
  const needed = new ReplicasNeeded({ hasSentinels: true })
  expect(needed.count).toBe(1)
  needed.note(0, at(0, true))
  expect(needed.count).toBe(1)
})

test('one that joins must confirm at once', () => {
  const needed = new ReplicasNeeded({ hasSentinels: true })
  needed.note(2, at(0))
  expect(needed.count).toBe(2)
  needed.note(3, at(1))
  expect(needed.count).toBe(3)
})

test.each([
  { hasSentinels: true, leftAfterMs: 10_000 },
  { hasSentinels: false, leftAfterMs: 2_000 },
])('one that leaves is missed for a while ($hasSentinels)', ({ hasSentinels, leftAfterMs }) => {
  const needed = new ReplicasNeeded({ hasSentinels })
  needed.note(2, at(0))
  needed.note(1, at(5_000))
  needed.note(0, at(5_000 + leftAfterMs - 1))
  expect(needed.count).toBe(2)
  needed.note(1, at(5_000 + leftAfterMs))
  expect(needed.count).toBe(1)
})

test('one that comes back is missed anew when it leaves again', () => {
  const needed = new ReplicasNeeded({ hasSentinels: true })
  needed.note(2, at(0))
  needed.note(1, at(1_000))
  needed.note(2, at(9_000))
  needed.note(1, at(12_000))
  expect(needed.count).toBe(2)
})

test('one that leaves is not waited for once all sentinels say that there is no failover', () => {
  const needed = new ReplicasNeeded({ hasSentinels: true })
  needed.note(2, at(0))
  needed.note(1, at(1, true))
  expect(needed.count).toBe(1)
})

test('those of a replica that was promoted are counted anew, those of a restarted primary are missed', () => {
  const needed = new ReplicasNeeded({ hasSentinels: true })
  needed.note(2, at(0))
  needed.note(0, at(1, false, 'restarted'))
  expect(needed.count).toBe(2)
  needed.note(0, at(2, false, 'promoted', 'restarted'))
  expect(needed.count).toBe(1)
  needed.note(2, at(3, false, 'promoted', 'restarted'))
  needed.note(1, at(4, false, 'promoted', 'restarted'))
  expect(needed.count).toBe(2)
})

test('a replica counts that is online and has answered lately', () => {
  const info = [
    'connected_slaves:4',
    'slave0:ip=10.0.0.2,port=6379,state=online,offset=10,lag=0',
    'slave1:ip=10.0.0.3,port=6379,state=online,offset=10,lag=3',
    'slave2:ip=10.0.0.4,port=6379,state=online,offset=10,lag=4',
    'slave3:ip=10.0.0.5,port=6379,state=wait_bgsave,offset=0,lag=0',
  ]
  expect(onlineReplicas(fieldsOf(info.join('\r\n')))).toBe(2)
})
