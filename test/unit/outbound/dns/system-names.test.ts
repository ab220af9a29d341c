import { expect, test } from 'vitest'
import { candidatesOf, parseHosts, parseSearchRules } from '../../../../src/outbound/dns/system-names.ts'

test('hosts files have comments, several names a line and several lines a name', () => {
  const hosts = parseHosts('127.0.0.1\tlocalhost Loop # here\n# 1.1.1.1 no\n::1 localhost\nnonsense name\n')
  expect(Object.fromEntries(hosts)).toEqual({ localhost: ['127.0.0.1', '::1'], loop: ['127.0.0.1'] })
})

test('a pod asks below its search domains first', () => {
  const rules = parseSearchRules(
    'search shop.svc.cluster.local svc.cluster.local cluster.local.\nnameserver 10.96.0.10\noptions ndots:5 edns0\n',
  )
  expect(candidatesOf('redis.shop', rules)).toEqual([
    'redis.shop.shop.svc.cluster.local',
    'redis.shop.svc.cluster.local',
    'redis.shop.cluster.local',
    'redis.shop',
  ])
  expect(candidatesOf('a.b.c.d.e.f', rules)[0]).toBe('a.b.c.d.e.f')
  expect(candidatesOf('example.com.', rules)).toEqual(['example.com'])
})

test('without rules a name is asked as it is', () => {
  expect(parseSearchRules('')).toEqual({ domains: [], ndots: 1 })
  expect(candidatesOf('example.com', parseSearchRules(''))).toEqual(['example.com'])
  expect(parseSearchRules('domain a.b c\noptions ndots:99')).toEqual({ domains: ['a.b'], ndots: 15 })
})
