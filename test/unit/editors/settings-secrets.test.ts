/** What holds for every editor that keeps a Secret beside the settings of a team, whichever it is. */
import { describe, expect, test } from 'vitest'
import { ResourceApiError } from '../../../src/domain/errors.ts'
import { createNotificationChannels } from '../../../src/editors/notification-channels.ts'
import { createSigningSecrets } from '../../../src/editors/signing-secrets.ts'
import { createFakeClock } from '../../support/fake-clock.ts'
import { conflict, createSettingsCluster, type Faults, WHERE } from './settings-cluster.ts'

type Cluster = ReturnType<typeof createSettingsCluster>
type Change = (team: string) => Promise<unknown>

interface Editor {
  readonly create: Change
  /** All that changes what is there. */
  readonly changes: readonly Change[]
  readonly list: Change
}

const SECRET = { name: 'punctual-signing-aaaaaaaa', key: 'secret' }
const CHANNEL = { name: 'mail', type: 'Email', alertTypes: ['Failure'] }
/** Settings with something of both kinds. */
const SPEC = { signing: { secretRefs: [SECRET] }, notifications: { channels: [CHANNEL] } }

function signingSecrets({ stores }: Cluster): Editor {
  const store = createSigningSecrets({ ...stores, ...WHERE, isUsed: () => true, clock: createFakeClock() })
  return {
    create: (team) => store.create(team, { name: 'punctual-signing-bbbbbbbb', text: 'whsec_b' }),
    changes: [(team) => store.remove(team, `${SECRET.name}:${SECRET.key}`)],
    list: (team) => store.list(team),
  }
}

function notificationChannels({ stores }: Cluster): Editor {
  const store = createNotificationChannels({
    ...stores,
    ...WHERE,
    isUsable: () => true,
    clock: createFakeClock(),
  })
  const url = 'https://hooks.slack.com/services/canary'
  return {
    create: (team) =>
      store.create(team, {
        name: 'ops',
        type: 'slack',
        alertTypes: ['failure'],
        url,
        secretName: 'punctual-channel-a',
      }),
    changes: [(team) => store.edit(team, 'mail', ['recovery']), (team) => store.remove(team, 'mail')],
    list: (team) => store.list(team),
  }
}

const EDITORS = [
  ['signing secrets', signingSecrets],
  ['notification channels', notificationChannels],
] as const

describe.each(EDITORS)('%s', (_name, editorOf) => {
  function opened(faults: Faults = {}, metadata: object = {}) {
    const cluster = createSettingsCluster(faults)
    cluster.settings(SPEC, metadata)
    return { cluster, editor: editorOf(cluster) }
  }

  test('what others change at the same time stays', async () => {
    const { cluster, editor } = opened({ patches: [conflict(), conflict()] })
    const egress = { allow: ['10.0.0.0/8'] }
    cluster.settings({ ...SPEC, egress })
    await editor.create('shop')
    expect(cluster.spec()).toMatchObject({ egress })
    expect(JSON.stringify(cluster.spec())).toContain(SECRET.name)
    expect(JSON.stringify(cluster.spec())).toContain(JSON.stringify(CHANNEL))
    expect(cluster.secrets()).toHaveLength(1)
  })

  test('after three tries it is a refusal that leaves no Secret', async () => {
    const { cluster, editor } = opened({ patches: [conflict(), conflict(), conflict()] })
    await expect(editor.create('shop')).rejects.toMatchObject({ code: 'edit_refused' })
    expect([cluster.spec(), cluster.secrets()]).toEqual([SPEC, []])
  })

  test('without an answer the Secret stays, since the settings may name it', async () => {
    const { cluster, editor } = opened({ patches: [new ResourceApiError('unavailable', 'away')] })
    await expect(editor.create('shop')).rejects.toMatchObject({ fault: 'unavailable' })
    expect(cluster.secrets()).toHaveLength(1)
  })

  test('settings that somebody has applied stay as they are where that is read-only', async () => {
    const { cluster, editor } = opened({}, { specApplier: 'kubectl' })
    for (const change of [editor.create, ...editor.changes]) {
      await expect(change('shop')).rejects.toThrow(/^TeamSettings team is managed by kubectl apply,/)
    }
    expect([cluster.spec(), cluster.secrets()]).toEqual([SPEC, []])
    expect(cluster.log).toEqual(['create Secret', 'remove Secret'])
  })

  test('without the right it says which value of the chart gives it', async () => {
    const { cluster, editor } = opened({ secrets: new ResourceApiError('forbidden', 'no') })
    await expect(editor.create('shop')).rejects.toThrow('api.signingSecrets.enabled')
    expect(cluster.spec()).toEqual(SPEC)
  })

  test('namespaces that are not watched are left alone', async () => {
    const { cluster, editor } = opened()
    for (const change of [editor.create, ...editor.changes]) {
      await expect(change('mail')).rejects.toThrow('PUNCTUAL_WATCH_NAMESPACES')
    }
    expect([await editor.list('mail'), cluster.log]).toEqual([[], []])
  })
})
