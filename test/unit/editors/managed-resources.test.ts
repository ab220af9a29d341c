import { describe, expect, it } from 'vitest'
import { createManagedResources, managerOf } from '../../../src/editors/managed-resources.ts'
import type { KubeObject, ObjectMeta } from '../../../src/ports/resource-store.ts'
import { createFakeClock } from '../../support/fake-clock.ts'
import { kubeObject } from '../kubernetes/kube-objects.ts'

const TRACKED = 'punctual.dev/HttpQueue:default/q'
const tracking = (id: string): Partial<ObjectMeta> => ({
  annotations: { 'argocd.argoproj.io/tracking-id': id },
})

describe('who manages a resource', () => {
  it.each<[string, Partial<ObjectMeta>, object | null]>([
    ['Argo CD by its annotation', tracking(`mail:${TRACKED}`), { tool: 'argo_cd', name: 'mail' }],
    ['nobody when that is of another resource', tracking('mail:punctual.dev/HttpQueue:default/other'), null],
    ['nobody when that is of another namespace', tracking('mail:punctual.dev/HttpQueue:other/q'), null],
    ['nobody when that has no form', tracking('mail'), null],
    [
      'Argo CD by its label',
      { labels: { 'argocd.argoproj.io/instance': 'mail' } },
      { tool: 'argo_cd', name: 'mail' },
    ],
    [
      'Flux by a Kustomization',
      { labels: { 'kustomize.toolkit.fluxcd.io/name': 'apps' }, specApplier: 'kustomize-controller' },
      { tool: 'flux', name: 'apps' },
    ],
    [
      'Flux before the release that it installs',
      {
        labels: { 'helm.toolkit.fluxcd.io/name': 'shop' },
        annotations: { 'meta.helm.sh/release-name': 'shop-1' },
      },
      { tool: 'flux', name: 'shop' },
    ],
    [
      'Helm',
      { annotations: { 'meta.helm.sh/release-name': 'shop' }, specApplier: 'helm' },
      { tool: 'helm', name: 'shop' },
    ],
    ['kubectl', { specApplier: 'kubectl' }, { tool: 'kubectl', name: 'kubectl' }],
    [
      'kubectl as it applied first',
      { specApplier: 'kubectl-client-side-apply' },
      { tool: 'kubectl', name: 'kubectl-client-side-apply' },
    ],
    ['another applier', { specApplier: 'terraform' }, { tool: 'other', name: 'terraform' }],
    ['nobody who only edited it', { specManager: 'kubectl-edit' }, null],
  ])('is %s', (_who, metadata, manager) => {
    expect(managerOf(kubeObject(metadata))).toEqual(manager)
  })
})

function setUp(
  options: { isSynced?: boolean; isReadOnly?: boolean; read?: () => Promise<KubeObject | null> } = {},
) {
  const clock = createFakeClock()
  const queue = { ...kubeObject({ name: 'emails-1', specApplier: 'kubectl' }), spec: { queueName: 'emails' } }
  const reads: string[] = []
  const managed = createManagedResources({
    resourcesOf: (team, name) => {
      if (options.isSynced === false) return null
      return team === 'default' && name === 'emails' ? [queue] : []
    },
    crons: {
      read: (namespace, name) => {
        reads.push(`${namespace}/${name}`)
        return options.read?.() ?? Promise.resolve(kubeObject({ specApplier: 'terraform' }))
      },
    },
    isWatched: (namespace) => namespace === 'default',
    isReadOnly: () => options.isReadOnly ?? false,
    clock,
  })
  return { clock, managed, reads }
}

describe('the managed', () => {
  it('find the resource of a queue by its name', () => {
    const { managed } = setUp()
    expect(managed.ofQueue('default', 'emails')).toEqual({
      name: 'emails-1',
      managedBy: { tool: 'kubectl', name: 'kubectl', isReadOnly: false },
    })
    expect(setUp({ isReadOnly: true }).managed.ofQueue('default', 'emails')?.managedBy?.isReadOnly).toBe(true)
    expect(managed.ofQueue('default', 'pushed')).toBe(null)
    expect(setUp({ isSynced: false }).managed.ofQueue('default', 'emails')).toBe(null)
  })

  it('read a cron once in half a minute, and nothing elsewhere', async () => {
    const { clock, managed, reads } = setUp()
    const found = { tool: 'other', name: 'terraform', isReadOnly: false }
    expect(await Promise.all([managed.ofCron('default', 'a'), managed.ofCron('default', 'a')])).toEqual([
      found,
      found,
    ])
    expect(await managed.ofCron('elsewhere', 'a')).toBe(null)
    expect(reads).toEqual(['default/a'])
    await clock.advance(30_000)
    await managed.ofCron('default', 'a')
    expect(reads).toHaveLength(2)
  })

  it('do without an API server that fails or is slow', async () => {
    const failing = setUp({ read: () => Promise.reject(new Error('refused')) })
    expect(await failing.managed.ofCron('default', 'a')).toBe(null)
    const late = Promise.withResolvers<KubeObject | null>()
    const slow = { ...setUp({ read: () => late.promise }), arrive: late.resolve }
    const asked = slow.managed.ofCron('default', 'a')
    await slow.clock.advance(1_000)
    expect(await asked).toBe(null)
    // The answer that comes late is known from then on, and a fault is not.
    slow.arrive(kubeObject({ specApplier: 'terraform' }))
    expect(await slow.managed.ofCron('default', 'a')).toMatchObject({ name: 'terraform' })
    expect(slow.reads).toHaveLength(1)
    await failing.managed.ofCron('default', 'a')
    expect(failing.reads).toHaveLength(2)
    const absent = setUp({ read: () => Promise.resolve(null) })
    expect(await absent.managed.ofCron('default', 'a')).toBe(null)
  })

  it('read twenty crons at once and no more', async () => {
    const { clock, managed, reads } = setUp({ read: () => Promise.withResolvers<null>().promise })
    const asked = Array.from({ length: 30 }, (_, i) => managed.ofCron('default', `cron-${i}`))
    await clock.advance(1_000)
    expect(await Promise.all(asked)).toEqual(Array(30).fill(null))
    expect(reads).toHaveLength(20)
  })
})
