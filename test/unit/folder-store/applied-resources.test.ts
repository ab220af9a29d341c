import { describe, expect, it } from 'vitest'
import { DEFAULT_QUEUE_SETTINGS } from '../../../src/domain/jobs/queue-settings.ts'
import { EMPTY_SNAPSHOT } from '../../../src/folder-store/folder-snapshot.ts'
import type { FolderSnapshot } from '../../../src/folder-store/folder-snapshot.ts'
import { resolveResources } from '../../../src/folder-store/applied-resources.ts'
import type { ManifestFile } from '../../../src/folder-store/files/manifest-file.ts'
import { createManifestReader } from '../../../src/resources/manifests/manifest-reader.ts'
import { NO_OWN_SECRETS } from '../../../src/ports/access/own-secrets.ts'
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
  `{ apiVersion: v1, kind: Secret, metadata: { name: s }, type: punctual.dev/signing-secret, stringData: ${data} }`
const SIGNED =
  '{ signing: { secretRefs: [{ name: s, key: new }, { name: s, key: old }] }, egress: { allow: [a.b] }, quotas: { crons: 3 } }'

const of = (files: readonly ManifestFile[], before: FolderSnapshot = EMPTY_SNAPSHOT) =>
  resolveResources(files, before, (url) => url.hostname === '10.0.0.1')
const texts = (result: ReturnType<typeof resolveResources>) => result.problems.map(problemText)

describe('what the API would refuse or warn of', () => {
  const blocked = cron('c', '', 'callbackUrl: "http://10.0.0.1/"')

  it('a cron with a blocked target keeps the settings it had, and a new one is not applied', () => {
    const first = of([file('a.yaml', 1, blocked)])
    expect(first.snapshot.crons).toEqual([])
    expect(texts(first)).toEqual([
      'a.yaml, document 1, spec.callbackUrl: must not point to a blocked address. The cron is not applied; settings applied earlier stay.',
    ])
    const before = of([file('a.yaml', 1, cron('c', '', 'timeoutSeconds: 7'), cron('d'))]).snapshot
    expect(of([file('a.yaml', 1, blocked)], before).snapshot.crons).toMatchObject([
      { name: 'c', settings: { timeoutSeconds: 7 } },
    ])
  })

  it('an assertion that can never hold is told, and applied', () => {
    const never = 'successAssertions: [{ type: StatusCodeEquals, value: 404 }]'
    const result = of([file('a.yaml', 1, queue('q', `{ ${never} }`), cron('c', '', never))])
    expect(result.snapshot).toMatchObject({ queues: [{ name: 'q' }], crons: [{ name: 'c' }] })
    expect(result.problems.map(({ code, document, field }) => [code, document, field])).toEqual([
      ['NeverSucceeds', 1, 'spec.successAssertions[0]'],
      ['NeverSucceeds', 2, 'spec.successAssertions[0]'],
    ])
  })
})

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
    const files = [
      file('a.yaml', 1, team(SIGNED)),
      file('b.yaml', 2, secret('{ new: n1----------------------, old: o1---------------------- }')),
    ]
    expect(of(files)).toMatchObject({
      problems: [],
      snapshot: {
        teams: [
          {
            team: 'default',
            policy: {
              egressAllow: ['a.b'],
              signingSecrets: ['n1----------------------', 'o1----------------------'],
              quotas: quotasOf({ crons: 3 }),
            },
          },
        ],
      },
    })
  })

  it.each([
    ['no Secret', [], 'There is no Secret s in default.'],
    ['no key', [file('b.yaml', 2, secret('{ new: n1---------------------- }'))], 'Secret s has no key old.'],
    [
      'a bad value',
      [file('b.yaml', 2, secret('{ new: n1----------------------, old: "top secret" }'))],
      'Key old of Secret s must be',
    ],
  ])('with %s keep what they had, and are never unsigned', (_name, files, text) => {
    const before = {
      queues: [],
      crons: [],
      tokens: [],
      windows: [],
      secrets: [],
      teams: [
        {
          team: 'default',
          policy: {
            egressAllow: [],
            signingSecrets: ['last'],
            signingSecretIds: [],
            appliedResources: undefined,
            quotas: NO_QUOTAS,
            headerSecrets: [],
            channels: [],
            members: [],
            maskedHeaders: [],
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
    const result = of([
      file('a.yaml', 1, settings),
      file('b.yaml', 2, secret('{ new: n1---------------------- }')),
    ])
    expect(texts(result).join('\n')).toContain(`Secret s has no key ${key}.`)
    const given = of([
      file('a.yaml', 1, settings),
      file('b.yaml', 2, secret(`{ ${key}: k1---------------------- }`)),
    ])
    expect(given.snapshot.teams).toMatchObject([{ policy: { signingSecrets: ['k1----------------------'] } }])
  })

  it('take a Secret of their own team only', () => {
    const other = secret('{ new: n1----------------------, old: o1---------------------- }').replace(
      'name: s',
      'name: s, namespace: other',
    )
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

describe('header secrets', () => {
  const settings = team(
    '{ headerSecrets: [{ name: a, secretKeyRef: { name: p, key: a }, hosts: [a.test] }, { name: b, secretKeyRef: { name: p, key: b }, hosts: [b.test] }] }',
  )
  const partner = (fields: string) => `{ apiVersion: v1, kind: Secret, metadata: { name: p }, ${fields} }`
  const secretsIn = ({ snapshot }: ReturnType<typeof of>) => snapshot.teams[0]?.policy.headerSecrets
  const usable = 'type: punctual.dev/header-secret'
  const annotated = (text: string) =>
    `{ apiVersion: v1, kind: Secret, metadata: { name: p, annotations: { punctual.dev/hosts: '${text}' } }, ${usable}, stringData: { token: canary } }`

  it('have the values of their Secret; without one they have none, and all else is applied', () => {
    const hosts = { a: { name: 'a', hosts: ['a.test'] }, b: { name: 'b', hosts: ['b.test'] } }
    const both = of([
      file('a.yaml', 1, settings),
      file('b.yaml', 2, partner(`${usable}, stringData: { a: canary, b: x }`)),
    ])
    expect(secretsIn(both)).toEqual([
      { ...hosts.a, value: 'canary' },
      { ...hosts.b, value: 'x' },
    ])
    expect(both.problems).toEqual([])
    const one = of(
      [file('a.yaml', 1, settings), file('b.yaml', 2, partner(`${usable}, stringData: { a: new }`))],
      both.snapshot,
    )
    expect(secretsIn(one)).toEqual([
      { ...hosts.a, value: 'new' },
      { ...hosts.b, value: null },
    ])
    expect(texts(one)).toEqual([
      'a.yaml, document 1, spec.headerSecrets[1].secretKeyRef: Secret p has no key b.',
    ])
    const narrowed = of([
      file('a.yaml', 1, settings),
      file('b.yaml', 2, annotated('a.test').replace('{ token: canary }', '{ a: canary, b: x }')),
    ])
    expect(secretsIn(narrowed)).toEqual([
      { ...hosts.a, value: 'canary' },
      { name: 'b', hosts: [], value: null },
    ])
    expect(texts(narrowed)).toEqual([
      'a.yaml, document 1, spec.headerSecrets[1].secretKeyRef: Secret p may not go to b.test: its annotation punctual.dev/hosts says a.test.',
    ])
    const other = of([
      file('a.yaml', 1, settings),
      file('b.yaml', 2, partner('type: Opaque, stringData: { a: canary, b: x }')),
    ])
    expect(secretsIn(other)?.map(({ value }) => value)).toEqual([null, null])
    expect(texts(other).join()).toContain('Secret p is not for this')
  })
})

describe('secrets of a queue or cron', () => {
  const OWN = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw'
  const signing = '{ signing: { secretRefs: [{ name: s, key: own }] } }'
  const partner = (fields: string) =>
    `{ apiVersion: v1, kind: Secret, metadata: { name: partner }, ${fields} }`
  const cron = `{ apiVersion: punctual.dev/v1alpha1, kind: HttpCron, metadata: { name: report }, spec: { url: https://a.test, cronExpression: '0 3 * * *', headers: [{ name: X-Key, valueFrom: { secretKeyRef: { name: partner, key: token } } }] } }`
  const files = (...documents: string[]) => documents.map((text, at) => file(`${at}.yaml`, at, text))
  const header = partner('type: punctual.dev/header-secret, stringData: { token: canary }')
  const both = files(queue('mail', signing), secret(`{ own: ${OWN} }`), cron, header)

  it('are beside its settings, which do not hold them', () => {
    const { snapshot, problems } = of(both)
    expect(problems).toEqual([])
    expect(snapshot.secrets).toEqual([
      {
        owner: { team: 'default', kind: 'queue', name: 'mail' },
        secrets: {
          signingSecrets: [OWN],
          signingSecretRefs: [{ name: 's', key: 'own' }],
          headerValues: {},
        },
      },
      {
        owner: { team: 'default', kind: 'cron', name: 'report' },
        secrets: {
          ...NO_OWN_SECRETS,
          headerValues: { 'x-key': 'canary' },
          headerOrigin: 'https://a.test',
        },
      },
    ])
    expect(JSON.stringify([snapshot.queues, snapshot.crons])).not.toMatch(/canary|whsec/)
  })

  it('that cannot be used any more stay as they were, and are reported', () => {
    const before = of(both).snapshot
    const after = of(files(queue('mail', signing), cron, partner('stringData: { token: canary }')), before)
    expect(after.snapshot.secrets).toEqual(before.secrets)
    expect(texts(after)).toEqual([
      '0.yaml, document 1, spec.signing.secretRefs: There is no Secret s in default.',
      '1.yaml, document 1, spec.headers: Secret partner is not for this: give it type punctual.dev/header-secret, or the label punctual.dev/secret=header.',
    ])
    // None were there, so none must sign: not the team's either.
    const first = of(files(queue('mail', signing), cron)).snapshot
    expect(first.queues).toHaveLength(1)
    expect(first.secrets).toEqual([
      {
        owner: { team: 'default', kind: 'queue', name: 'mail' },
        secrets: {
          signingSecrets: [],
          signingSecretRefs: [{ name: 's', key: 'own' }],
          headerValues: {},
        },
      },
    ])
  })

  it('of a cron go where their Secret says, and are taken away when it says otherwise', () => {
    const says = (text: string) =>
      header.replace('name: partner', `name: partner, annotations: { punctual.dev/hosts: '${text}' }`)
    const held = ({ snapshot }: ReturnType<typeof of>) =>
      snapshot.secrets.map(({ secrets }) => secrets.headerValues)
    const before = of(files(cron, says('a.test')))
    expect([held(before), texts(before)]).toEqual([[{ 'x-key': 'canary' }], []])
    const moved = of(files(cron.replace('a.test', 'b.test'), says('a.test')), before.snapshot)
    const refusal = 'Secret partner may not go to b.test: its annotation punctual.dev/hosts says a.test.'
    expect([held(moved), texts(moved)]).toEqual([
      [{ 'x-key': 'canary' }],
      [`0.yaml, document 1, spec.headers: ${refusal}`],
    ])
    expect(held(of(files(cron, says('other.test')), before.snapshot))).toEqual([{}])
    expect(held(of(files(cron, says('no host')), before.snapshot))).toEqual([{ 'x-key': 'canary' }])
  })

  it('of a cron whose new URL is blocked stay with what stays of it', () => {
    const before = of(both).snapshot
    const moved = cron.replace('https://a.test', 'http://10.0.0.1')
    const after = of(files(queue('mail', signing), secret(`{ own: ${OWN} }`), moved, header), before)
    expect(after.problems).toMatchObject([{ code: 'TargetBlocked' }])
    expect(after.snapshot.crons).toEqual(before.crons)
    expect(after.snapshot.secrets).toEqual(before.secrets)
  })
})
