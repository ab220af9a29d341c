import { expect, test } from 'vitest'
import { fieldsOf, serverOf } from '../../../../../src/redis/base/installation/server-look.ts'

const INFO = [
  '# Server',
  'redis_version:8.2.1',
  'used_memory:900',
  'mem_not_counted_for_evict:100',
  'maxmemory:2000',
  'slave0:ip=10.0.0.8,port=6379,state=online,offset=14,lag=1',
  'slave1:ip=10.0.0.9,port=6380,state=wait_bgsave,offset=0,lag=0',
  'slave2:ip=10.0.0.10,port=6381,state=online',
].join('\r\n')

test('a server says its version, its memory, and how far its replicas are behind', () => {
  expect(serverOf('10.0.0.7:6379', fieldsOf(INFO))).toMatchObject({
    version: '8.2.1',
    usedBytes: 800,
    maxBytes: 2000,
    replicas: [
      { name: '10.0.0.8:6379', isOnline: true, lagSeconds: 1 },
      { name: '10.0.0.9:6380', isOnline: false, lagSeconds: 0 },
      { name: '10.0.0.10:6381', isOnline: true, lagSeconds: null },
    ],
  })
})

test('valkey says its own version, and what a server does not say is null', () => {
  const said = serverOf('a', fieldsOf('redis_version:7.2.4\r\nvalkey_version:9.0.1'))
  expect(said).toMatchObject({ version: '9.0.1', replicas: [], isAppendOnly: null, savedAtSeconds: null })
  expect(serverOf('a', fieldsOf('')).version).toBeNull()
})

test('at most 16 replicas are told of', () => {
  const many = Array.from({ length: 20 }, (_, at) => `slave${at}:ip=a,port=${at},state=online,lag=0`)
  expect(serverOf('a', fieldsOf(many.join('\r\n'))).replicas).toHaveLength(16)
})
