import { describe, expect, it } from 'vitest'
import type { HttpCron } from '../../../src/controller/kinds.ts'
import type { CronSettings } from '../../../src/domain/crons/cron.ts'
import { EditRefusedError, ResourceApiError } from '../../../src/domain/errors.ts'
import { ResourceCronEditor } from '../../../src/editors/cron-editor.ts'
import type { Cron } from '../../../src/ports/crons.ts'
import type { NewObject } from '../../../src/ports/resource-store.ts'
import { NO_TEAM_SETTINGS } from '../../../src/ports/settings.ts'
import { settingsOfCronSpec } from '../../../src/resources/cron-spec.ts'
import { isUnfinished } from '../../../src/resources/cron-secret.ts'
import { cronSettings } from '../../support/engine/cron-settings.ts'
import { createFakeClock } from '../../support/fake-clock.ts'
import { CRON_DEFAULTS } from '../controller/crons/cron-world.ts'
import { createMemoryKind } from '../controller/memory-kind.ts'

const URL_OF_CRON = 'https://partner.test:8443/hook'
const NEW = cronSettings({
  displayName: 'Daily mail',
  url: URL_OF_CRON,
  headers: { Accept: 'text/plain', Authorization: 'Bearer canary', 'X-Customer': '4711', 'X-Api-Key': '' },
})
const NAME = 'daily-mail-00000001'

type Step = 'create' | 'finish' | 'patch' | 'remove'

/** A cluster whose API server refuses the steps in `faults`, and in which the process dies at those in `deaths`. */
function setUp() {
  const clock = createFakeClock()
  const kind = createMemoryKind<HttpCron>({ kind: 'HttpCron', indexes: {}, defaults: CRON_DEFAULTS })
  const secrets = new Map<string, NewObject>()
  const faults = new Map<Step, ResourceApiError>()
  const deaths = new Set<Step>()
  const state = { hasController: true, suffixes: 0 }
  const step = <T>(name: Step, run: () => T | Promise<T>): Promise<T> => {
    if (deaths.has(name)) return new Promise(() => undefined)
    const fault = faults.get(name)
    return fault === undefined ? Promise.try(run) : Promise.reject(fault)
  }
  const { writer } = kind
  /** As a controller does: only what is finished, and whose Secrets are there. */
  const inForce = (name: string): Cron | null => {
    const cron = kind.get(`shop/${name}`)
    if (cron === undefined || !state.hasController || isUnfinished(cron)) return null
    const named = cron.spec.headers.flatMap(({ valueFrom }) => valueFrom?.secretKeyRef.name ?? [])
    if (named.some((one) => !secrets.has(one))) return null
    const settings = settingsOfCronSpec(name, cron.spec)
    const rest = { nextRunAtMs: 1, lastRun: null, lastSuccessAtMs: null, consecutiveFailures: 0 }
    return { cronId: 7, team: 'shop', name, settings, ...rest }
  }
  const editor = new ResourceCronEditor({
    crons: {
      get: async () => [...kind.informer.all()].map(({ metadata }) => inForce(metadata.name))[0] ?? null,
      getByName: async (_team, name) => inForce(name),
      apply: () => Promise.reject(new Error('nothing is applied from here')),
      remove: async () => 'not_found',
    },
    store: {
      read: writer.read,
      create: writer.create,
      patchSpec: (...given) => step('patch', () => writer.patchSpec(...given)),
      remove: async (target) => kind.force(`${target.namespace}/${target.name}`),
    },
    teamSettings: { of: () => ({ ...NO_TEAM_SETTINGS, maskedHeaders: ['x-customer'] }) },
    cronSecrets: {
      create: (secret) => step('create', () => secrets.set(secret.metadata.name, secret)),
      removeNamed: (_team, name) => step('remove', () => void secrets.delete(name)),
      finish: (cron, spec) =>
        step('finish', () => kind.put(`${cron.namespace}/${cron.name}`, spec, { annotations: {} })),
    },
    isWatched: () => true,
    isReadOnly: () => false,
    newSuffix: () => String((state.suffixes += 1)).padStart(8, '0'),
    clock,
  })
  const until = async <T>(run: () => Promise<T>, ms = 100): Promise<T> => {
    const made = run()
    made.catch(() => undefined)
    await clock.advance(ms)
    return made
  }
  const create = (settings: CronSettings = NEW, key: string | null = null, ms?: number) =>
    until(() => editor.create('shop', settings, key), ms)
  const edit = (change: Partial<CronSettings>) => until(() => editor.edit('shop', 7, change), 2_100)
  const only = () => [...kind.informer.all()][0] ?? expect.fail('there is no cron')
  const values = () => [...secrets.values()].map(({ stringData }) => stringData)
  return { clock, kind, secrets, faults, deaths, state, editor, create, edit, only, values }
}

describe('a new cron', () => {
  it('has its secret headers in a Secret that goes with it and goes nowhere else, and no others', async () => {
    const { create, secrets, only } = setUp()
    expect(await create()).toMatchObject({ name: NAME })
    const name = `${NAME}-headers-00000002`
    const { metadata, spec } = only()
    const from = (key: string) => ({ secretKeyRef: { name, key } })
    expect(spec.headers).toEqual([
      { name: 'Accept', value: 'text/plain' },
      { name: 'Authorization', valueFrom: from('1-authorization') },
      { name: 'X-Customer', valueFrom: from('2-x-customer') },
      { name: 'X-Api-Key', value: '' },
    ])
    expect(metadata.annotations).toEqual({})
    expect([...secrets.values()]).toEqual([
      {
        metadata: {
          name,
          namespace: 'shop',
          labels: { 'punctual.dev/origin': 'api' },
          annotations: { 'punctual.dev/hosts': 'partner.test:8443' },
          ownerReferences: [
            { apiVersion: 'punctual.dev/v1alpha1', kind: 'HttpCron', name: NAME, uid: metadata.uid },
          ],
        },
        type: 'punctual.dev/header-secret',
        stringData: { '1-authorization': 'Bearer canary', '2-x-customer': '4711' },
      },
    ])
  })

  it('without secret headers needs no Secret', async () => {
    const { create, kind, secrets } = setUp()
    await create({ ...NEW, headers: { Accept: 'a/b' } })
    expect([secrets.size, kind.writes]).toEqual([0, [`create shop/${NAME}`]])
  })

  it.each(['create', 'finish'] as const)(
    'whose process dies at %s is marked, and never in force',
    async (at) => {
      const { create, deaths, only, state } = setUp()
      deaths.add(at)
      await expect(create(NEW, null, 5_000)).rejects.toMatchObject({ fault: 'unavailable' })
      state.hasController = true
      expect(only().metadata.annotations).toEqual({ 'punctual.dev/unfinished': 'true' })
      expect(JSON.stringify(only())).not.toContain('canary')
    },
  )

  it.each(['create', 'finish'] as const)('that died at %s is finished under its key', async (at) => {
    const { create, deaths, only, kind, values } = setUp()
    deaths.add(at)
    await create(NEW, 'order-1', 5_000).catch(() => undefined)
    deaths.clear()
    expect(await create(NEW, 'order-1')).toMatchObject({ cronId: 7 })
    expect([...kind.informer.all()]).toHaveLength(1)
    expect(only().metadata.annotations).toEqual({})
    expect(values().at(-1)).toEqual({ '1-authorization': 'Bearer canary', '2-x-customer': '4711' })
  })

  it('under a key is the same with other values of secret headers, and another with other headers', async () => {
    const { create } = setUp()
    await create(NEW, 'order-1')
    const secret = { ...NEW.headers, Authorization: 'Bearer other' }
    expect(await create({ ...NEW, headers: secret }, 'order-1')).toMatchObject({ cronId: 7 })
    for (const headers of [{ ...NEW.headers, Accept: 'a/b' }, { Accept: 'text/plain' }]) {
      expect(await create({ ...NEW, headers }, 'order-1')).toBe('key_used')
    }
  })

  it('is undone where the API may make no Secrets, with what to do', async () => {
    const { create, faults, kind } = setUp()
    faults.set('create', new ResourceApiError('forbidden', 'no'))
    await expect(create()).rejects.toThrow(/^This API may not make Secrets.*api\.cronSecrets\.enabled/)
    expect([...kind.informer.all()]).toEqual([])
  })

  it('is undone when no controller reads its Secret: each run would fail', async () => {
    const { create, kind, state } = setUp()
    state.hasController = false
    await expect(create(NEW, null, 8_100)).rejects.toMatchObject({ fault: 'unavailable' })
    expect([...kind.informer.all()]).toEqual([])
  })

  it('is refused before anything is written if its values are too large together', async () => {
    const { create, kind } = setUp()
    const headers = Object.fromEntries([1, 2, 3, 4, 5].map((at) => [`X-${at}-Token`, 'x'.repeat(8_000)]))
    await expect(create({ ...NEW, headers })).rejects.toThrow(EditRefusedError)
    expect(kind.writes).toEqual([])
  })
})

describe('an edit', () => {
  it('puts new values into a Secret of their own, and deletes the former one', async () => {
    const { create, edit, secrets, values, only } = setUp()
    await create()
    await edit({ headers: { Authorization: 'Bearer new' } })
    expect(values()).toEqual([{ '0-authorization': 'Bearer new' }])
    expect(only().spec.headers).toMatchObject([
      { valueFrom: { secretKeyRef: { name: [...secrets.keys()][0], key: '0-authorization' } } },
    ])
    await edit({ headers: {} })
    expect(values()).toEqual([])
  })

  it('that keeps a value keeps its Secret, and gives the new URL of a new one', async () => {
    const { create, edit, secrets, values } = setUp()
    await create()
    await edit({ headers: { authorization: '(hidden)', 'X-Token': 'second' } })
    expect(values()).toEqual([
      expect.objectContaining({ '1-authorization': 'Bearer canary' }),
      { '1-x-token': 'second' },
    ])
    await edit({ timeoutSeconds: 5 })
    expect(secrets.size).toBe(2)
    await edit({ url: 'https://other.test/', headers: { Authorization: 'Bearer other' } })
    expect([...secrets.values()].map(({ metadata }) => metadata.annotations)).toEqual([
      { 'punctual.dev/hosts': 'other.test' },
    ])
  })

  it('moves a value that stood in the resource when it is kept', async () => {
    const { create, edit, kind, only, values } = setUp()
    await create({ ...NEW, headers: {} })
    kind.put(`shop/${NAME}`, { headers: [{ name: 'Authorization', value: 'Bearer canary' }] })
    await edit({ headers: { Authorization: '(hidden)' } })
    expect(values()).toEqual([{ '0-authorization': 'Bearer canary' }])
    expect(JSON.stringify(only().spec)).not.toContain('canary')
  })

  it('that is refused leaves no Secret, and one without an answer leaves what the cron may name', async () => {
    const { create, edit, faults, values } = setUp()
    await create()
    const former = values()
    faults.set('patch', new ResourceApiError('invalid', 'no'))
    await expect(edit({ headers: { Authorization: 'Bearer new' } })).rejects.toThrow(EditRefusedError)
    expect(values()).toEqual(former)
    faults.set('patch', new ResourceApiError('unavailable', 'away'))
    await expect(edit({ headers: { Authorization: 'Bearer new' } })).rejects.toThrow('away')
    expect(values()).toEqual([...former, { '0-authorization': 'Bearer new' }])
  })

  it('deletes no Secret that somebody else has made', async () => {
    const { create, edit, kind, secrets } = setUp()
    await create({ ...NEW, headers: {} })
    const of = (name: string) => ({ metadata: { name, namespace: 'shop' } })
    const names = ['partner', `${NAME}-headers`, `${NAME}-headers-0000000g`, `other-headers-00000001`]
    for (const name of names) secrets.set(name, of(name))
    const headers = names.map((name, at) => ({
      name: `X-${at}`,
      valueFrom: { secretKeyRef: { name, key: 'k' } },
    }))
    kind.put(`shop/${NAME}`, { headers })
    await edit({ headers: {} })
    expect([...secrets.keys()]).toEqual(names)
  })
})
