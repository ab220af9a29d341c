import { expect, test } from 'vitest'
import { CronTargets } from '../../../../src/controller/crons/cron-targets.ts'
import type { HttpCron, TeamSettings } from '../../../../src/controller/kinds.ts'
import { EgressGuard } from '../../../../src/outbound/egress/egress-guard.ts'
import type { Informer } from '../../../../src/ports/kubernetes.ts'
import { kubeObject } from '../../kubernetes/kube-objects.ts'

function aCron(url: string, callbackUrl?: string): HttpCron {
  return {
    ...kubeObject({ namespace: 'shop', name: 'c' }),
    spec: { url, callbackUrl },
  } as unknown as HttpCron
}

function aTeam(allow: readonly string[], other: object = {}): TeamSettings {
  const object = kubeObject({ namespace: 'shop', name: 'team' })
  return { ...object, spec: { egress: { allow }, ...other } } as unknown as TeamSettings
}

function setUp() {
  const teams = new Map<string, TeamSettings>()
  const enqueued: string[] = []
  let changed: Parameters<Informer<TeamSettings>['onChange']>[0] = () => undefined
  const targets = new CronTargets({
    crons: {
      byIndex: (index, value) =>
        index === 'namespace' && value === 'shop' ? [aCron('https://a.example')] : [],
    },
    teams: {
      get: (key) => teams.get(key),
      onChange: (listener) => {
        changed = listener
        return () => undefined
      },
    },
    egress: new EgressGuard({ allow: [], deny: [], allowable: null, clusterCidrs: [], ownHosts: [] }),
    enqueue: (key) => void enqueued.push(key),
  })
  const put = (settings: TeamSettings | undefined): void => {
    const before = teams.get('shop/team')
    if (settings === undefined) teams.delete('shop/team')
    else teams.set('shop/team', settings)
    changed('shop/team', before, settings)
  }
  return { targets, put, enqueued }
}

const blocked = (field: string) => ({
  reason: 'TargetBlocked',
  problem: `spec.${field}: must not point to a blocked address.`,
})

test.each([
  ['https://partner.example/', undefined, null],
  ['http://10.1.2.3/', undefined, 'url'],
  ['http://169.254.169.254/latest/', undefined, 'url'],
  ['http://[::ffff:169.254.169.254]/', undefined, 'url'],
  ['http://localhost:8080/', undefined, 'url'],
  ['http://redis.shop.svc.cluster.local/', undefined, 'url'],
  ['https://partner.example/', 'http://192.168.0.1/', 'callbackUrl'],
])('%s with the callback URL %s', (url, callbackUrl, field) => {
  expect(setUp().targets.obstacle(aCron(url, callbackUrl))).toEqual(field === null ? null : blocked(field))
})

test('a team opens and closes targets, and its crons are looked at again', () => {
  const { targets, put, enqueued } = setUp()
  const cron = aCron('http://10.1.2.3/')
  put(aTeam(['10.1.0.0/16']))
  expect(targets.obstacle(cron)).toBeNull()
  put(aTeam(['10.1.0.0/16'], { members: [] }))
  expect(enqueued).toEqual(['shop/c'])
  put(undefined)
  expect(targets.obstacle(cron)).toEqual(blocked('url'))
  expect(enqueued).toEqual(['shop/c', 'shop/c'])
})
