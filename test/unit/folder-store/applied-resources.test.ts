import { describe, expect, it } from 'vitest'
import { DEFAULT_QUEUE_SETTINGS } from '../../../src/domain/jobs/queue-settings.ts'
import { EMPTY_SNAPSHOT } from '../../../src/folder-store/folder-snapshot.ts'
import type { FolderSnapshot } from '../../../src/folder-store/folder-snapshot.ts'
import { resolveResources } from '../../../src/folder-store/applied-resources.ts'
import type { ManifestFile } from '../../../src/folder-store/files/manifest-file.ts'
import { createManifestReader } from '../../../src/resources/manifests/manifest-reader.ts'
import { problemText } from '../../../src/resources/resource.ts'
import { NO_QUOTAS, quotasOf } from '../../../src/domain/quotas.ts'
import { anApiToken } from '../../support/principals.ts'

const reader = createManifestReader('default')

function file(name: string, madeAtMs: number, ...documents: readonly string[]): ManifestFile {
  const text = documents.join('\n---\n')
  const { resources, problems } = reader.read(name, text)
  expect(problems).toEqual([])
  return { file: name, madeAtMs, good: { text, resources }, candidate: null }
}

const queue = (name: string, spec = '{}', metadata = '') =>
  `{ apiVersion: punctual.dev/v1alpha1, kind: HttpQueue, metadata: { name: ${name}${metadata} }, spec: ${spec} }`
const cron = (name: string, metadata = '', spec = 'method: POST') =>
  `{ apiVersion: punctual.dev/v1alpha1, kind: HttpCron, metadata: { name: ${name}${metadata} }, spec: { url: "http://a.test", cronExpression: 0 8 * * *, ${spec} } }`
const team = (spec: string) =>
  `{ apiVersion: punctual.dev/v1alpha1, kind: TeamSettings, metadata: { name: team }, spec: ${spec} }`
const secret = (data: string) =>
  `{ apiVersion: v1, kind: Secret, metadata: { name: s }, stringData: ${data} }`
const SIGNED =
  '{ signing: { secretRefs: [{ name: s, key: new }, { name: s, key: old }] }, egress: { allow: [a.b] }, quotas: { crons: 3 } }'

const of = (files: readonly ManifestFile[], before: FolderSnapshot = EMPTY_SNAPSHOT) =>
  resolveResources(files, before, (url) => url.hostname === '10.0.0.1')
const texts = (result: ReturnType<typeof resolveResources>) => result.problems.map(problemText)

describe('queues', () => {
  it('stand in the order of teams and names', () => {
    const { snapshot, problems } = of([
      file('b.yaml', 1, queue('b'), queue('x', '{ queueName: B }')),
      file('a.yaml', 2, queue('a', '{}', ', namespace: another')),
    ])
    expect(problems).toEqual([])
    expect(snapshot.queues).toEqual([
      { team: 'another', name: 'a', settings: DEFAULT_QUEUE_SETTINGS },
      { team: 'default', name: 'B', settings: DEFAULT_QUEUE_SETTINGS },
      { team: 'default', name: 'b', settings: DEFAULT_QUEUE_SETTINGS },
    ])
  })

  it('of one name: the older file wins, the other is told', () => {
    const result = of([
      file('a.yaml', 2, queue('young', '{ queueName: mail, timeoutSeconds: 2 }')),
      file('b.yaml', 1, queue('old', '{ queueName: mail, timeoutSeconds: 1 }')),
    ])
    expect(result.snapshot.queues).toMatchObject([{ name: 'mail', settings: { timeoutSeconds: 1 } }])
    expect(result.problems).toMatchObject([{ code: 'NameTaken', file: 'a.yaml' }])
    expect(texts(result)).toEqual([
      'a.yaml, document 1: The queue name "mail" is taken by document 1 of b.yaml, which is older: this one is not applied.',
    ])
  })

  it('of one name and age: the name of the file decides, then the place in it', () => {
    const files = [
      file('b.yaml', 1, queue('b', '{ queueName: mail, timeoutSeconds: 3 }')),
      file(
        'a.yaml',
        1,
        queue('a1', '{ queueName: mail, timeoutSeconds: 1 }'),
        queue('a2', '{ queueName: mail, timeoutSeconds: 2 }'),
      ),
    ]
    const result = of(files)
    expect(result.snapshot.queues).toMatchObject([{ settings: { timeoutSeconds: 1 } }])
    expect(result.problems).toHaveLength(2)
    expect(of(files.toReversed()).snapshot).toEqual(result.snapshot)
  })

  it('of one name in two teams do not meet', () => {
    const files = [
      file('a.yaml', 1, queue('mail')),
      file('b.yaml', 2, queue('mail', '{}', ', namespace: other')),
    ]
    expect(of(files)).toMatchObject({ problems: [], snapshot: { queues: [{}, {}] } })
  })

  it('whose metadata.name is taken are not applied', () => {
    const files = [file('a.yaml', 1, queue('mail')), file('b.yaml', 2, queue('mail', '{ queueName: other }'))]
    expect(of(files)).toMatchObject({
      problems: [{ code: 'NameTaken', file: 'b.yaml' }],
      snapshot: { queues: [{ name: 'mail' }] },
    })
  })
})

describe('team settings', () => {
  it('have their secrets looked up, newest first', () => {
    const files = [file('a.yaml', 1, team(SIGNED)), file('b.yaml', 2, secret('{ new: n1, old: o1 }'))]
    expect(of(files)).toMatchObject({
      problems: [],
      snapshot: {
        teams: [
          {
            team: 'default',
            policy: { egressAllow: ['a.b'], signingSecrets: ['n1', 'o1'], quotas: quotasOf({ crons: 3 }) },
          },
        ],
      },
    })
  })

  it.each([
    ['no Secret', [], 'There is no Secret s in default.'],
    ['no key', [file('b.yaml', 2, secret('{ new: n1 }'))], 'Secret s has no key old.'],
    [
      'a bad value',
      [file('b.yaml', 2, secret('{ new: n1, old: "top secret" }'))],
      'Key old of Secret s must be',
    ],
  ])('with %s keep what they had, and are never unsigned', (_name, files, text) => {
    const before = {
      queues: [],
      crons: [],
      tokens: [],
      windows: [],
      teams: [
        {
          team: 'default',
          policy: {
            ...{ egressAllow: [], signingSecrets: ['last'], quotas: NO_QUOTAS },
            ...{ channels: [], members: [] },
          },
        },
      ],
    }
    const result = of([file('a.yaml', 1, team(SIGNED)), ...files], before)
    expect(result.snapshot.teams).toEqual(before.teams)
    expect(result.problems[0]).toMatchObject({ code: 'SecretNotUsable' })
    expect(texts(result).join('\n')).toContain(text)
    expect(texts(result).join('\n')).not.toContain('top secret')
    expect(of([file('a.yaml', 1, team(SIGNED)), ...files]).snapshot.teams).toEqual([])
  })

  it.each(['constructor', '__proto__', 'toString'])('find no key %s that nobody has written', (key) => {
    const settings = team(`{ signing: { secretRefs: [{ name: s, key: ${key} }] } }`)
    const result = of([file('a.yaml', 1, settings), file('b.yaml', 2, secret('{ new: n1 }'))])
    expect(texts(result).join('\n')).toContain(`Secret s has no key ${key}.`)
    const given = of([file('a.yaml', 1, settings), file('b.yaml', 2, secret(`{ ${key}: k1 }`))])
    expect(given.snapshot.teams).toMatchObject([{ policy: { signingSecrets: ['k1'] } }])
  })

  it('take a Secret of their own team only', () => {
    const other = secret('{ new: n1, old: o1 }').replace('name: s', 'name: s, namespace: other')
    expect(of([file('a.yaml', 1, team(SIGNED), other)]).problems).toHaveLength(2)
  })
})

describe('channels', () => {
  const SLACK_URL = 'https://hooks.slack.com/services/T1/B2/canary'
  const notifying = (...channels: readonly string[]) =>
    team(
      `{ egress: { allow: [a.b, 10.0.0.0/8] }, members: [{ name: Ada, email: a@a.test }], notifications: { channels: [${channels.join()}] } }`,
    )
  const slack = (key: string) => `{ name: ${key}, type: Slack, secretRef: { name: s, key: ${key} } }`
  const mail = '{ name: mail, type: Email, alertTypes: [Warning, LimitWarning, Warning] }'

  it('have the URL of their Secret, and e-mail has none', () => {
    const hook = '{ name: hook, type: Webhook, secretRef: { name: s, key: hook } }'
    const found = of([
      file(
        'a.yaml',
        1,
        notifying(mail, slack('chat'), hook),
        secret(`{ chat: " ${SLACK_URL}\\n", hook: "http://x.a.b/in" }`.replace('\\n', '\n')),
      ),
    ])
    expect(found.problems).toEqual([])
    const alertTypes = ['failure', 'recovery', 'limit_warning']
    expect(found.snapshot.teams).toMatchObject([
      {
        policy: {
          channels: [
            { name: 'mail', type: 'email', alertTypes: ['warning', 'limit_warning'], url: null },
            { name: 'chat', type: 'slack', alertTypes, url: SLACK_URL },
            { name: 'hook', type: 'webhook', alertTypes, url: 'http://x.a.b/in' },
          ],
          members: [{ name: 'Ada', email: 'a@a.test' }],
        },
      },
    ])
  })

  it.each([
    ['{ other: x }', 'Secret s has no key chat.'],
    ['{ chat: " " }', 'Key chat of Secret s is empty'],
    ['{ chat: "canary" }', 'The URL must begin with https://'],
    ['{ chat: "https://canary.test/services/x" }', 'The URL must be one of Slack'],
    ['{ chat: "http://10.0.0.1/canary" }', 'The egress policy blocks the host of the URL.'],
  ])('that cannot be used are left out, here of %s; all else is applied', (data, text) => {
    const found = of([file('a.yaml', 1, notifying(slack('chat'), mail), secret(data))])
    expect(found.problems).toMatchObject([
      { code: 'ChannelNotUsable', field: 'spec.notifications.channels[0].secretRef' },
    ])
    expect(texts(found).join()).toContain(text)
    expect(texts(found).join()).not.toContain('canary')
    expect(found.snapshot.teams).toMatchObject([
      { policy: { egressAllow: ['a.b', '10.0.0.0/8'], channels: [{ name: 'mail' }] } },
    ])
  })
})

describe('tokens', () => {
  const token = (name: string, digit: string, namespace = 'default') =>
    `{ apiVersion: punctual.dev/v1alpha1, kind: ApiToken, metadata: { name: ${name}, namespace: ${namespace} }, spec: { sha256: "${digit.repeat(64)}" } }`

  it('stand in the order of teams and names', () => {
    const { snapshot, problems } = of([
      file('a.yaml', 1, token('b', '1'), token('a', '2'), token('z', '3', 'another')),
    ])
    expect(problems).toEqual([])
    expect(snapshot.tokens).toEqual([
      anApiToken('z', { team: 'another', sha256Hex: '3'.repeat(64) }),
      anApiToken('a', { sha256Hex: '2'.repeat(64) }),
      anApiToken('b', { sha256Hex: '1'.repeat(64) }),
    ])
  })

  it('of one hash: the older one has it, whatever the team', () => {
    const result = of([
      file('a.yaml', 2, token('young', '1')),
      file('b.yaml', 1, token('old', '1', 'another')),
    ])
    expect(result.snapshot.tokens).toMatchObject([{ team: 'another', name: 'old' }])
    expect(result.problems).toMatchObject([{ code: 'TokenTaken', file: 'a.yaml' }])
    expect(texts(result)).toEqual([
      'a.yaml, document 1: This token is taken by document 1 of b.yaml, which is older: this one is not applied.',
    ])
  })
})

describe('crons', () => {
  it('stand in the order of teams and names', () => {
    const { snapshot, problems } = of([
      file('a.yaml', 1, cron('weekly'), cron('daily', ', namespace: another')),
      file('b.yaml', 2, cron('daily', '', 'active: false')),
    ])
    expect(problems).toEqual([])
    expect(snapshot.crons).toMatchObject([
      { team: 'another', name: 'daily', settings: { displayName: 'daily', isActive: true } },
      { team: 'default', name: 'daily', settings: { isActive: false } },
      { team: 'default', name: 'weekly', settings: { cronExpression: '0 8 * * *', timeZone: 'UTC' } },
    ])
  })

  it('of one name: the older file wins, the other is told', () => {
    const result = of([
      file('a.yaml', 2, cron('daily', '', 'displayName: Young')),
      file('b.yaml', 1, cron('daily', '', 'displayName: Old')),
    ])
    expect(result.snapshot.crons).toMatchObject([{ name: 'daily', settings: { displayName: 'Old' } }])
    expect(result.problems).toMatchObject([{ code: 'NameTaken', file: 'a.yaml' }])
  })
})

describe('maintenance windows', () => {
  const window = (name: string, spec = '') =>
    `{ apiVersion: punctual.dev/v1alpha1, kind: MaintenanceWindow, metadata: { name: ${name} }, spec: { recurring: [{ cronExpression: 0 1 * * *, durationSeconds: 3600 }]${spec} } }`

  it('are applied with all their settings', () => {
    const result = of([
      file(
        'a.yaml',
        1,
        window('night', ', action: Hold, resource: { kind: HttpCron, name: backup }, reason: "1"'),
      ),
    ])
    const schedule = { cronExpression: '0 1 * * *', timeZone: 'UTC', durationSeconds: 3_600 }
    const settings = {
      action: 'hold',
      resource: { kind: 'cron', name: 'backup' },
      times: { kind: 'recurring', schedules: [schedule] },
      reason: '1',
    }
    expect(result.problems).toEqual([])
    expect(result.snapshot.windows).toEqual([{ team: 'default', name: 'night', settings }])
  })

  it('are bounded for each team: the oldest ones count', () => {
    const old = Array.from({ length: 100 }, (_, i) => window(`w${i}`))
    const result = of([file('young.yaml', 2, window('late')), file('old.yaml', 1, ...old)])
    expect(result.snapshot.windows).toHaveLength(100)
    expect(result.problems).toMatchObject([{ code: 'TooManyWindows', file: 'young.yaml' }])
    expect(texts(result)).toEqual([
      'young.yaml, document 1: default has 100 older maintenance windows, the most allowed: this one is not applied.',
    ])
  })
})
