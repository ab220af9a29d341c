import { expect, test } from 'vitest'
import { Reflector } from '../../../../src/kubernetes/informer/reflector.ts'
import type { Transport } from '../../../../src/kubernetes/client/transport.ts'
import { createFakeClock } from '../../../support/fake-clock.ts'
import { latched } from '../../../support/latched.ts'
import { quietClusterMetrics, quietLogger } from '../../../support/quiet.ts'

test('trap: a list that is answered at the moment of stop does not reach the store', async () => {
  const request = latched<(sent: unknown) => Promise<unknown>>()
  const watch = latched<(sent: unknown) => Promise<unknown>>()
  const replaced: unknown[] = []
  const reflector = new Reflector({
    clock: createFakeClock(),
    logger: quietLogger,
    metrics: quietClusterMetrics,
    transport: { request, watch } as unknown as Transport,
    random: () => 0,
    kind: { apiVersion: 'v1', kind: 'Secret', plural: 'secrets' },
    namespace: null,
    store: {
      get: () => undefined,
      replace: (_namespace, objects) => void replaced.push(objects),
      put: () => undefined,
      delete: () => undefined,
    },
  })
  reflector.start()
  request.next.answer({ metadata: { resourceVersion: '7' }, items: [] })
  await reflector.stop()
  expect([replaced, watch.calls]).toEqual([[], []])
})
