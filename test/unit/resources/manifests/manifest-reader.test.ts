import { describe, expect, it, vi } from 'vitest'
import { DEFAULT_QUEUE_SETTINGS } from '../../../../src/domain/jobs/queue-settings.ts'
import { createManifestReader } from '../../../../src/resources/manifests/manifest-reader.ts'
import { problemText } from '../../../../src/resources/resource.ts'
import type { Resource } from '../../../../src/resources/resource.ts'
import { NO_QUOTAS } from '../../../../src/domain/quotas.ts'

const reader = createManifestReader('default')

const read = (text: string) => reader.read('a.yaml', text)
const problemsOf = (text: string) => read(text).problems.map(problemText)

function only(text: string): Resource {
  const { resources, problems } = read(text)
  expect(problems).toEqual([])
  expect(resources).toHaveLength(1)
  return (resources[0] as { resource: Resource }).resource
}

const queue = (spec: string, name = 'mail') =>
  `apiVersion: punctual.dev/v1alpha1\nkind: HttpQueue\nmetadata: { name: ${name} }\nspec:\n${spec.replaceAll(/^/gm, '  ')}\n`

const team = (spec: string, name = 'team') =>
  `apiVersion: punctual.dev/v1alpha1\nkind: TeamSettings\nmetadata: { name: ${name} }\nspec: ${spec}\n`

const secret = (fields: string) => `apiVersion: v1\nkind: Secret\nmetadata: { name: s }\n${fields}\n`

describe('HttpQueue', () => {
  it('with an empty spec has every default', () => {
    expect(
      only('{apiVersion: punctual.dev/v1alpha1, kind: HttpQueue, metadata: {name: mail}, spec: {}}'),
    ).toEqual({
      kind: 'HttpQueue',
      team: 'default',
      name: 'mail',
      queueName: 'mail',
      settings: DEFAULT_QUEUE_SETTINGS,
      signingSecretRefs: [],
    })
  })

  it('maps every field', () => {
    const text = queue(`queueName: "Mails: out"
active: false
timeoutSeconds: 5
retriesEnabled: false
retryDelays: [2, 5]
successAssertions:
- { type: StatusCodeEquals, value: 204 }
- { type: StatusCodeEquals, value: "201" }
- { type: ResponseTimeUnderMs, value: "500" }
- { type: BodyContains, value: "123" }
alertsEnabled: true
maxParallelism: 3
dlqRetentionDays: 7
callbackEvents: EveryAttempt
strictParallelism: true`)
    expect(only(text)).toMatchObject({
      queueName: 'Mails: out',
      settings: {
        isActive: false,
        timeoutSeconds: 5,
        retriesEnabled: false,
        retryDelays: [2, 5],
        successAssertions: [
          { type: 'status_code_equals', value: 204 },
          { type: 'status_code_equals', value: 201 },
          { type: 'response_time_under_ms', value: 500 },
          { type: 'body_contains', value: '123' },
        ],
        alertsEnabled: true,
        maxParallelism: 3,
        dlqRetentionDays: 7,
        callbackEvents: 'every_attempt',
        strictParallelism: true,
      },
    })
  })

  it('takes an empty field as not given, as the API server does', () => {
    expect(only(queue('timeoutSeconds:\nmaxParallelism: null'))).toMatchObject({
      settings: DEFAULT_QUEUE_SETTINGS,
    })
  })

  it.each([
    [
      'timeoutSeconds: 010',
      'line 5, spec.timeoutSeconds: begins with a zero, which kubectl reads as octal: write it without.',
    ],
    ['retryDelays:\n- 5\n- 030', 'line 7, spec.retryDelays[1]: begins with a zero'],
    ['maxParallelism: +07', 'line 5, spec.maxParallelism: begins with a zero'],
  ])('that kubectl reads as another number is refused: %j', (spec, problem) => {
    expect(problemsOf(queue(spec))).toEqual([expect.stringContaining(problem)])
  })

  it('may have a zero, and texts and keys that begin with one', () => {
    const text = queue('queueName: "010"\nretryDelays: [1, 60]').replace(
      'name: mail',
      'name: mail, labels: { a: "007" }, annotations: { 010: "0" }, generation: 0',
    )
    expect(only(text)).toMatchObject({ queueName: '010' })
  })

  it('of another API group is skipped, whatever its numbers', () => {
    const text = 'apiVersion: apps/v1\nkind: Deployment\nmetadata: { name: a }\nspec: { replicas: 010 }\n'
    expect(read(text)).toEqual({ resources: [], problems: [] })
  })

  it('belongs to its namespace', () => {
    const text = queue('active: true').replace('name: mail', 'name: mail, namespace: billing')
    expect(only(text)).toMatchObject({ team: 'billing' })
  })

  it('may carry what Kubernetes writes into it', () => {
    const text = queue('active: true').replace(
      'name: mail',
      'name: mail, uid: x, labels: {a: b}, generation: 3',
    )
    expect(only(`${text}status: { observedGeneration: 3 }\n`)).toMatchObject({ name: 'mail' })
  })

  it.each([
    ['timeoutSeconds: 0', 'line 5, spec.timeoutSeconds: 0 must be from 1 to 300.'],
    ['timeoutSeconds: 301', 'line 5, spec.timeoutSeconds: 301 must be from 1 to 300.'],
    ['timeoutSeconds: 1.5', 'line 5, spec.timeoutSeconds: 1.5 must be a whole number.'],
    ['timeoutSeconds: "30"', 'line 5, spec.timeoutSeconds: "30" must be a whole number.'],
    ['active: yes', 'line 5, spec.active: "yes" must be true or false.'],
    ['retryDelays: []', 'line 5, spec.retryDelays: [] must have 1 to 10 entries.'],
    [`retryDelays: [${'1,'.repeat(11)}]`, 'must have 1 to 10 entries.'],
    ['retryDelays:\n- 5\n- 86401', 'line 7, spec.retryDelays[1]: 86401 must be from 1 to 86400.'],
    ['maxParallelism: 0', 'line 5, spec.maxParallelism: 0 must be from 1 to 1000000.'],
    ['dlqRetentionDays: 5', 'line 5, spec.dlqRetentionDays: 5 must be one of 3, 7, 14, 30.'],
    ['callbackEvents: terminal', 'spec.callbackEvents: "terminal" must be one of Terminal, EveryAttempt.'],
    ['queueName: ""', 'spec.queueName: "" must have 1 to 255 characters.'],
    [`queueName: ${'é'.repeat(256)}`, 'must have 1 to 255 characters.'],
    ['queueName: "a\\uD800"', 'spec.queueName: must not contain half of a surrogate pair.'],
    ['max_parallelism: 1', 'spec.max_parallelism: is not a known field; known here: queueName, active,'],
    [
      'successAssertions: [{ type: StatusCodeEquals, value: 99 }]',
      'successAssertions[0].value: must be a status',
    ],
    ['successAssertions: [{ type: ResponseTimeUnderMs, value: 0 }]', 'must be a number of milliseconds'],
    ['successAssertions: [{ type: BodyContains, value: 1 }]', 'put quotes around a number.'],
    ['successAssertions: [{ type: BodyContains, value: "" }]', 'must be a text of 1 to 4096 characters'],
    ['successAssertions: [{ type: Magic, value: 1 }]', 'must be one of StatusCodeEquals, BodyContains,'],
    ['successAssertions: [{ type: BodyContains }]', 'spec.successAssertions[0].value: is required.'],
  ])('refuses %j with the place and what is allowed', (spec, text) => {
    const problems = problemsOf(queue(spec))
    expect(problems).toHaveLength(1)
    expect(problems[0]).toMatch(/^a\.yaml, document 1, line /)
    expect(problems[0]).toContain(text)
  })

  it('reports all mistakes together', () => {
    expect(problemsOf(queue('timeoutSeconds: 0\nactive: 1\nwhat: 1'))).toHaveLength(3)
  })

  it('takes a name of 255 characters beyond the first plane', () => {
    expect(only(queue(`queueName: "${'😀'.repeat(255)}"`))).toMatchObject({ queueName: '😀'.repeat(255) })
  })
})

describe('a document', () => {
  it.each([
    ['metadata: {}\nkind: HttpQueue\n', 'apiVersion: is required'],
    ['- 1\n', '[1] must be a map with apiVersion and kind.'],
    ['just text\n', 'must be a map'],
    [queue('active: true', 'Mail'), 'metadata.name: "Mail" must be a name of lower-case letters'],
    [
      queue('active: true').replace('name: mail', 'name: mail, namespace: a.b'),
      'metadata.namespace: "a.b" must be',
    ],
    [
      queue('active: true').replace('spec:', 'specs:'),
      'specs: is not a known field; known here: apiVersion,',
    ],
    ['apiVersion: punctual.dev/v1alpha1\nkind: HttpQueue\nmetadata: {name: a}\n', 'spec: is required.'],
    [
      'apiVersion: punctual.dev/v1alpha1\nkind: HttpTask\nmetadata: {name: a}\n',
      'HttpTask of punctual.dev/v1alpha1 is not supported; supported: HttpQueue, HttpCron, MaintenanceWindow,',
    ],
    [
      'apiVersion: punctual.dev/v1alpha1\nkind: constructor\nmetadata: {name: a}\nspec: {}\n',
      'constructor of punctual.dev/v1alpha1 is not supported',
    ],
    [
      'apiVersion: punctual.dev/v9\nkind: HttpQueue\nmetadata: {name: a}\n',
      'HttpQueue of punctual.dev/v9 is not supported',
    ],
    ['a: [1\n', 'is not YAML: '],
    ['a: 1\na: 2\n', 'line 2: is not YAML: Map keys must be unique'],
    ['a: !Ref x\n', 'is not YAML: Unresolved tag'],
    ['', 'a.yaml: has no resource'],
    ['# only words\n', 'a.yaml: has no resource'],
    ['---\n---\n', 'a.yaml: has no resource'],
  ])('that is %j is refused', (text, problem) => {
    const problems = problemsOf(text)
    expect(problems.join('\n')).toContain(problem)
    expect(read(text).resources).toEqual([])
  })

  it('of another API group is passed over', () => {
    const text = `apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: d}\nspec: {}\n---\n${queue('active: true')}`
    expect(only(text)).toMatchObject({ name: 'mail' })
  })

  it('is counted from 1 and named in its problem', () => {
    const text = `---\n---\n${queue('active: true')}---\n${queue('timeoutSeconds: 0')}`
    expect(problemsOf(text)).toEqual([
      'a.yaml, document 3, line 13, spec.timeoutSeconds: 0 must be from 1 to 300.',
    ])
    expect(read(text).resources.map((one) => one.document)).toEqual([2])
  })

  it('may be JSON', () => {
    const text = JSON.stringify({
      apiVersion: 'punctual.dev/v1alpha1',
      kind: 'HttpQueue',
      metadata: { name: 'mail' },
      spec: { maxParallelism: 1 },
    })
    expect(only(text)).toMatchObject({ settings: { maxParallelism: 1 } })
  })

  it('may use anchors, and not for a bomb', () => {
    const bomb = [
      'a: &a [1,1,1,1,1,1,1,1,1]',
      'b: &b [*a,*a,*a,*a,*a,*a]',
      'c: &c [*b,*b,*b,*b,*b]',
      'd: [*c,*c,*c]',
    ]
    expect(only(queue('retryDelays: &d [1]\nmaxParallelism: &n 4'))).toMatchObject({
      settings: { maxParallelism: 4 },
    })
    expect(problemsOf(bomb.join('\n'))[0]).toContain('Excessive alias count')
  })

  it('cannot reach the prototype of objects', () => {
    expect(problemsOf(queue('__proto__: { active: false }'))[0]).toContain('__proto__')
  })

  it('is one of at most a thousand', () => {
    expect(problemsOf('a: 1\n---\n'.repeat(1001))[0]).toContain('at most 1000 are allowed')
  })
})

describe('TeamSettings', () => {
  it('has egress and references to secrets', () => {
    const spec =
      '{ egress: { allow: [10.0.0.0/8, .svc.cluster.local] }, signing: { secretRefs: [{ name: s, key: k }] }, headerSecrets: [{ name: h, secretKeyRef: { name: s, key: h }, hosts: [a.test, "*.b.test:8080"] }], maskedHeaders: [X-Customer] }'
    expect(only(team(spec))).toEqual({
      kind: 'TeamSettings',
      team: 'default',
      name: 'team',
      egressAllow: ['10.0.0.0/8', '.svc.cluster.local'],
      signingSecretRefs: [{ name: 's', key: 'k' }],
      headerSecrets: [
        { name: 'h', secretKeyRef: { name: 's', key: 'h' }, hosts: ['a.test', '*.b.test:8080'] },
      ],
      quotas: NO_QUOTAS,
      channels: [],
      members: [],
      maskedHeaders: ['x-customer'],
    })
    expect(only(team('{}'))).toMatchObject({ egressAllow: [], signingSecretRefs: [], headerSecrets: [] })
  })

  it('has the quotas that it names, and no others', () => {
    const quotas = { ...NO_QUOTAS, crons: 5, storedBytes: 1000 }
    expect(only(team('{ quotas: { crons: 5, storedBytes: 1000 } }'))).toMatchObject({ quotas })
  })

  it.each([
    [team('{}', 'other'), 'line 3, metadata.name: a namespace has one TeamSettings, and it is named team.'],
    [
      team('{ egress: { allow: [10.0.0.1/8] } }'),
      'spec.egress.allow[0]: must be a CIDR block such as 10.0.0.0/8: a complete address, no',
    ],
    [team('{ egress: { allow: [a, a] } }'), 'spec.egress.allow[1]: "a" is a duplicate.'],
    [team('{ signing: { secretRefs: [{ name: s }] } }'), 'spec.signing.secretRefs[0].key: is required.'],
    [
      team(`{ signing: { secretRefs: [${'{ name: s, key: k },'.repeat(3)}] } }`),
      'must have at most 2 entries.',
    ],
  ])('%# is refused', (text, problem) => {
    expect(problemsOf(text).join('\n')).toContain(problem)
  })
})

describe('Secret', () => {
  it('has data in base64 and stringData above it', () => {
    const text = secret('type: Opaque\ndata: { a: aGVsbG8=, b: AP8= }\nstringData: { a: plain }')
    const { data } = only(text) as { data: Record<string, Uint8Array> }
    expect(Buffer.from(data.a ?? []).toString()).toBe('plain')
    expect([...(data.b ?? [])]).toEqual([0, 255])
  })

  it.each([
    ['data: { a: "top%secret" }', 'data.a: must be a text in base64.'],
    ['stringData: { a: 123456789 }', 'stringData.a: must be a text; put quotes around a number.'],
    ['stringData: { "a b": x }', 'is not a valid key'],
    ['data: topsecret', 'data: must be a map of keys and texts.'],
    ['strData: { a: topsecret }', 'strData: is not a known field'],
  ])('%j is refused without its value', (fields, problem) => {
    const problems = problemsOf(secret(fields))
    expect(problems.join('\n')).toContain(problem)
    expect(problems.join('\n')).not.toMatch(/secret"|top|123456789/)
  })

  it.each([
    ['*topsecret', 'cannot be read: Unresolved alias (the anchor must be set before the alias).'],
    ['!topsecret', 'is not YAML: Unresolved tag.'],
    ['!<topsecret> a', 'is not YAML: Unresolved tag.'],
    ['!topsecret! a', 'is not YAML: Unresolved tag.'],
    ['|topsecret', 'is not YAML: Block scalar header includes extra characters.'],
    ['"\\Usecret00"', 'is not YAML: Invalid escape sequence.'],
    ['a\n}topsecret', 'is not YAML: Unexpected flow-map-end token in YAML stream.'],
  ])('with the value %j, which YAML reads otherwise, is refused without it', (value, problem) => {
    const problems = problemsOf(secret(`stringData:\n  a: ${value}`)).join('\n')
    expect(problems).toContain(problem)
    expect(problems).not.toContain('secret')
  })

  it('with a map for a key is refused, and the value told nowhere else', () => {
    const warned = vi.spyOn(process, 'emitWarning').mockImplementation(() => undefined)
    expect(problemsOf(secret('stringData: { ? { a: topsecret } : b }'))).not.toEqual([])
    expect(warned).not.toHaveBeenCalled()
    warned.mockRestore()
  })
})
