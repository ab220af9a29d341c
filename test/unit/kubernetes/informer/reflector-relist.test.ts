import { expect, test } from 'vitest'
import { Reflector } from '../../../../src/kubernetes/informer/reflector.ts'
import type { Transport } from '../../../../src/kubernetes/client/transport.ts'
import type { KubeObject } from '../../../../src/ports/resource-store.ts'
import { createFakeClock } from '../../../support/fake-clock.ts'
import { quietClusterMetrics, quietLogger } from '../../../support/quiet.ts'
import { kubeObject } from '../kube-objects.ts'

test('a relist reuses known objects that have not changed', async () => {
  const [same, changed] = [kubeObject({ name: 'same' }), kubeObject({ name: 'changed' })]
  const items = structuredClone([
    same,
    { ...changed, metadata: { ...changed.metadata, resourceVersion: '2' } },
  ])
  const replaced = Promise.withResolvers<readonly KubeObject[]>()
  const reflector = new Reflector<KubeObject>({
    clock: createFakeClock(),
    logger: quietLogger,
    metrics: quietClusterMetrics,
    transport: {
      request: async () => ({ metadata: { resourceVersion: '9' }, items }),
      watch: () => Promise.reject(new Error('none here')),
    } as unknown as Transport,
    random: () => 0,
    kind: { apiVersion: 'punctual.dev/v1alpha1', kind: 'HttpQueue', plural: 'httpqueues' },
    namespace: null,
    store: {
      get: (key) => (key === 'default/same' ? same : changed),
      replace: (_namespace, objects) => replaced.resolve(objects),
      put: () => undefined,
      delete: () => undefined,
    },
  })
  reflector.start()
  const objects = await replaced.promise
  expect(objects).toEqual(items)
  expect(objects.map((object) => object === same || object === changed)).toEqual([true, false])
  await reflector.stop()
})
