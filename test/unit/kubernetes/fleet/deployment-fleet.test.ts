import { describe, expect, test } from 'vitest'
import { DeploymentFleet } from '../../../../src/kubernetes/fleet/deployment-fleet.ts'
import type { ApiRequest } from '../../../../src/kubernetes/client/transport.ts'
import { ResourceApiError } from '../../../../src/domain/errors.ts'
import { createFakeClock } from '../../../support/fake-clock.ts'
import { latched } from '../../../support/latched.ts'
import { quietLogger } from '../../../support/quiet.ts'

const SCALE = '/apis/apps/v1/namespaces/ops/deployments/punctual-executor/scale'
const PODS = '/api/v1/namespaces/ops/pods'
const HPAS = '/apis/autoscaling/v2/namespaces/ops/horizontalpodautoscalers'
const KEDA = '/apis/keda.sh/v1alpha1'
const SCALED_OBJECTS = `${KEDA}/namespaces/ops/scaledobjects`
const COST = 'controller.kubernetes.io/pod-deletion-cost'

function pod(
  name: string,
  options: { cost?: string; ready?: boolean; phase?: string; isLeaving?: boolean } = {},
) {
  const { cost, ready = true, phase = 'Running', isLeaving = false } = options
  return {
    metadata: {
      name,
      ...(cost === undefined ? {} : { annotations: { [COST]: cost } }),
      ...(isLeaving ? { deletionTimestamp: '2026-11-21T10:00:00Z' } : {}),
    },
    status: { phase, conditions: [{ type: 'Ready', status: ready ? 'True' : 'False' }] },
  }
}

const LIFE = new AbortController().signal
const scaler = (name: string, scaleTargetRef: object) => ({ metadata: { name }, spec: { scaleTargetRef } })
const OURS = { apiVersion: 'apps/v1', kind: 'Deployment', name: 'punctual-executor' }

/** Answers reads by path; a path without an answer is not found. */
function setUp(pods: readonly object[] = []) {
  const answers = new Map<string, unknown>([
    [SCALE, { metadata: { uid: 'uid-1' }, spec: { replicas: 3 }, status: { selector: 'app=executor' } }],
    [PODS, { items: pods }],
    [HPAS, { items: [] }],
  ])
  const request = latched<(request: ApiRequest) => Promise<unknown>>()
  request.rule = ({ method, path }) => {
    if (method !== 'GET') return {}
    const answer = answers.get(path)
    if (answer instanceof Error) throw answer
    if (answer === undefined) throw new ResourceApiError('not_found', 'not found')
    return answer
  }
  const warnings: unknown[] = []
  const clock = createFakeClock()
  const fleet = new DeploymentFleet({
    transport: {
      request: request as never,
      watch: () => Promise.reject(new Error('no watch')),
      close: async () => undefined,
    },
    clock,
    logger: { ...quietLogger, warn: (_message, fields) => warnings.push(fields?.kind) },
    namespace: 'ops',
    deployment: 'punctual-executor',
  })
  const requests = () => request.calls.map(({ args }) => args[0])
  const marks = () =>
    requests()
      .filter(({ method, path }) => method === 'PATCH' && path.startsWith(PODS))
      .map(({ path, body }) => [path.slice(PODS.length + 1), costIn(body)])
  return { answers, request, fleet, requests, marks, warnings, clock }
}

function costIn(body: unknown): string | undefined {
  return (body as { metadata: { annotations: Record<string, string> } }).metadata.annotations[COST]
}

describe('reading', () => {
  test('counts the pods that are not on their way out', async () => {
    const { fleet, requests } = setUp([
      pod('a'),
      pod('b', { ready: false, phase: 'Pending' }),
      pod('c', { isLeaving: true }),
      pod('d', { phase: 'Failed', ready: false }),
    ])
    expect(await fleet.read()).toEqual({
      ref: {
        apiVersion: 'apps/v1',
        kind: 'Deployment',
        namespace: 'ops',
        name: 'punctual-executor',
        uid: 'uid-1',
      },
      desired: 3,
      current: 2,
      ready: 1,
      otherScaler: null,
    })
    expect(requests().find(({ path }) => path === PODS)?.query).toEqual({
      labelSelector: 'app=executor',
      limit: 1_000,
    })
  })

  test('finds no Deployment', async () => {
    const { answers, fleet } = setUp()
    answers.delete(SCALE)
    expect(await fleet.read()).toBeNull()
  })

  test('never takes all pods of the namespace for its own', async () => {
    const { answers, fleet } = setUp([pod('stranger')])
    answers.set(SCALE, { metadata: { uid: 'uid-1' }, spec: { replicas: 1 }, status: {} })
    expect(await fleet.read()).toMatchObject({ current: 0 })
  })

  test('fails when the API server does', async () => {
    const { answers, fleet } = setUp()
    answers.set(PODS, new ResourceApiError('unavailable', 'no answer'))
    await expect(fleet.read()).rejects.toMatchObject({ fault: 'unavailable' })
  })
})

describe('someone else who scales', () => {
  test.each<[string, object, string | null]>([
    ['by our name', OURS, 'HorizontalPodAutoscaler hpa'],
    ['another Deployment', { ...OURS, name: 'other' }, null],
    ['a StatefulSet of our name', { ...OURS, kind: 'StatefulSet' }, null],
    ['a kind of another group', { ...OURS, apiVersion: 'example.com/v1' }, null],
  ])('is looked for among HPAs: %s', async (_what, target, found) => {
    const { answers, fleet } = setUp()
    answers.set(HPAS, { items: [scaler('none', {}), scaler('hpa', target)] })
    expect((await fleet.read())?.otherScaler).toBe(found)
  })

  test('is looked for among ScaledObjects only where there are such', async () => {
    const { answers, fleet, requests, clock } = setUp()
    answers.set(SCALED_OBJECTS, { items: [scaler('so', { name: 'punctual-executor' })] })
    expect((await fleet.read())?.otherScaler).toBeNull()
    expect(requests().some(({ path }) => path === SCALED_OBJECTS)).toBe(false)
    answers.set(KEDA, { resources: [] })
    await clock.advance(60_000)
    expect((await fleet.read())?.otherScaler).toBe('ScaledObject so')
  })

  test('is looked for once a minute', async () => {
    const { fleet, requests, clock } = setUp()
    const lists = () => requests().filter(({ path }) => path === HPAS).length
    await fleet.read()
    await clock.advance(59_999)
    await fleet.read()
    expect(lists()).toBe(1)
    await clock.advance(1)
    await fleet.read()
    expect(lists()).toBe(2)
  })

  test('is taken for nobody where looking is forbidden, and the log says so once', async () => {
    const { answers, fleet, warnings, clock } = setUp()
    answers.set(HPAS, new ResourceApiError('forbidden', 'no'))
    answers.set(KEDA, {})
    answers.set(SCALED_OBJECTS, new ResourceApiError('forbidden', 'no'))
    for (let n = 0; n < 3; n += 1) {
      expect((await fleet.read())?.otherScaler).toBeNull()
      await clock.advance(60_000)
    }
    expect(warnings).toEqual(['HorizontalPodAutoscaler', 'ScaledObject'])
  })
})

test('scaling writes the scale and nothing else', async () => {
  const { fleet, requests } = setUp()
  await fleet.scaleTo(0)
  expect(requests()).toEqual([
    {
      method: 'PATCH',
      path: SCALE,
      body: { spec: { replicas: 0 } },
      patchType: 'merge',
    },
  ])
})

describe('marks', () => {
  test('are powers of two, written where they differ, the greatest difference first', async () => {
    const { fleet, marks } = setUp([
      pod('busy'),
      pod('busier', { cost: '1' }),
      pod('as before', { cost: '64' }),
      pod('idle', { cost: '16' }),
      pod('always idle'),
      pod('leaving', { isLeaving: true }),
    ])
    await fleet.read()
    await fleet.setDeletionCosts(
      new Map([
        ['busy', 9],
        ['busier', 200],
        ['as before', 100],
        ['leaving', 50],
        ['deleted', 7],
      ]),
      LIFE,
    )
    expect(marks()).toEqual([
      ['busier', '128'],
      ['idle', '0'],
      ['busy', '8'],
    ])
  })

  test('are not written again', async () => {
    const { fleet, marks } = setUp([pod('a')])
    await fleet.read()
    for (const held of [5, 7, 4]) await fleet.setDeletionCosts(new Map([['a', held]]), LIFE)
    expect(marks()).toEqual([['a', '4']])
  })

  test('come without a read before', async () => {
    const { fleet, marks } = setUp([pod('a')])
    await fleet.setDeletionCosts(new Map([['a', 1]]), LIFE)
    expect(marks()).toEqual([['a', '1']])
  })

  test('are at most 50 per call; the next call writes the rest', async () => {
    const { fleet, marks } = setUp(Array.from({ length: 80 }, (_, n) => pod(`p${n}`)))
    const held = new Map(Array.from({ length: 80 }, (_, n) => [`p${n}`, 1]))
    await fleet.read()
    await fleet.setDeletionCosts(held, LIFE)
    expect(marks()).toHaveLength(50)
    await fleet.setDeletionCosts(held, LIFE)
    expect(new Set(marks().map(([name]) => name)).size).toBe(80)
  })

  test('replace what is no number', async () => {
    const { fleet, marks } = setUp([pod('a', { cost: 'much' })])
    await fleet.setDeletionCosts(new Map([['a', 1]]), LIFE)
    expect(marks()).toEqual([['a', '1']])
  })

  test('ignore a deleted pod, and fail otherwise', async () => {
    const { fleet, request } = setUp([pod('a'), pod('b')])
    await fleet.read()
    const refuse = (fault: 'not_found' | 'forbidden') => () =>
      Promise.reject(new ResourceApiError(fault, fault))
    request.rule = refuse('not_found')
    await fleet.setDeletionCosts(new Map([['a', 1]]), LIFE)
    request.rule = refuse('forbidden')
    await expect(fleet.setDeletionCosts(new Map([['b', 1]]), LIFE)).rejects.toMatchObject({
      fault: 'forbidden',
    })
  })

  test('are canceled by their signal', async () => {
    const { fleet, request } = setUp([pod('a')])
    await fleet.setDeletionCosts(new Map([['a', 1]]), LIFE)
    expect(request.calls.at(-1)?.args[0].signal).toBe(LIFE)
  })
})
