import { describe, expect, it } from 'vitest'
import { DEFAULT_QUEUE_SETTINGS } from '../../../../src/domain/jobs/queue-settings.ts'
import type { QueueSettings } from '../../../../src/domain/jobs/queue-settings.ts'
import { createManifestReader } from '../../../../src/resources/manifests/manifest-reader.ts'
import {
  mergePatch,
  patchSpecText,
  removeResources,
} from '../../../../src/resources/manifests/manifest-text.ts'
import { nameOfPushedQueue, newQueueManifest } from '../../../../src/resources/manifests/queue-manifest.ts'
import { specOfSettings } from '../../../../src/resources/queue-spec.ts'

const reader = createManifestReader('default')

const editQueueManifest = (text: string, document: number, change: Partial<QueueSettings>) =>
  patchSpecText(text, { document, item: null }, { ...specOfSettings(change) })

const FIRST = { document: 1, item: null }
const SECOND = { document: 2, item: null }

const TEXT = `# my queues
apiVersion: punctual.dev/v1alpha1
kind: HttpQueue
metadata:
  name: mail # the name
spec:
  # how long
  timeoutSeconds: 0x1E # half a minute

  retryDelays: [1, 2] # short
  maxParallelism: 4 # their wish
---
# second
apiVersion: punctual.dev/v1alpha1
kind: HttpQueue
metadata:
  name: sms
spec: {}
`

/** Nothing like the defaults. */
const OTHER: QueueSettings = {
  isActive: false,
  isDraining: true,
  timeoutSeconds: 7,
  retriesEnabled: false,
  retryDelays: [3, 4],
  noRetryStatuses: [410, 404],
  retryJitterPercent: 20,
  successAssertions: [
    { type: 'status_code_equals', value: 204 },
    { type: 'body_contains', value: '200' },
    { type: 'response_time_under_ms', value: 9 },
  ],
  alertsEnabled: true,
  maxParallelism: 5,
  rateLimit: { limit: 10, periodSeconds: 2 },
  respectRetryAfter: true,
  circuitBreaker: { failurePercent: 1, minCalls: 2, windowSeconds: 3, openSeconds: 4 },
  dlqRetentionDays: 30,
  callbackEvents: 'every_attempt',
  recordResponses: 'none',
  strictParallelism: true,
}

const settingsIn = (text: string, index = 0) => {
  const { resources, problems } = reader.read('a.yaml', text)
  expect(problems).toEqual([])
  const resource = resources[index]?.resource
  if (resource?.kind !== 'HttpQueue') throw new Error('no queue there')
  return resource.settings
}

describe('a changed manifest', () => {
  it('keeps comments, order and everything else', () => {
    const change = { timeoutSeconds: 45, retryDelays: [5], maxParallelism: null, isActive: false }
    expect(editQueueManifest(TEXT, 1, change)).toBe(
      TEXT.replace('0x1E', '45')
        .replace('[1, 2]', '[5]')
        .replace('4 # their wish', 'null # their wish\n  active: false'),
    )
  })

  it('has defaults for what a circuit breaker leaves out, and replaces it as a whole', () => {
    const text = TEXT.replace('maxParallelism: 4', 'circuitBreaker: { minCalls: 3 }')
    const defaults = { failurePercent: 50, minCalls: 10, windowSeconds: 60, openSeconds: 30 }
    expect(settingsIn(text).circuitBreaker).toEqual({ ...defaults, minCalls: 3 })
    const edited = editQueueManifest(text, 1, { circuitBreaker: defaults }) ?? ''
    expect(settingsIn(edited).circuitBreaker).toEqual(defaults)
    expect(edited).toContain('# their wish')
    expect(settingsIn(editQueueManifest(edited, 1, { circuitBreaker: null }) ?? '').circuitBreaker).toBeNull()
  })

  it('changes the document that is meant', () => {
    const text = editQueueManifest(TEXT, 2, { timeoutSeconds: 9 }) ?? ''
    expect(text.startsWith(TEXT.slice(0, TEXT.indexOf('---')))).toBe(true)
    expect(settingsIn(text, 1).timeoutSeconds).toBe(9)
  })

  it('takes every setting back and forth', () => {
    const there = editQueueManifest(TEXT, 1, OTHER) ?? ''
    expect(settingsIn(there)).toEqual(OTHER)
    const back = editQueueManifest(there, 1, DEFAULT_QUEUE_SETTINGS) ?? ''
    expect(settingsIn(back)).toEqual(DEFAULT_QUEUE_SETTINGS)
  })

  it('is left alone where an alias stands', () => {
    const text = `x: &x [1]\n${TEXT}`
    expect(editQueueManifest(text.replace('[1, 2]', '*x'), 1, { retryDelays: [5] })).toBeNull()
    expect(editQueueManifest(TEXT, 3, { timeoutSeconds: 5 })).toBeNull()
  })

  it('stays JSON when it is JSON', () => {
    const manifest = {
      apiVersion: 'punctual.dev/v1alpha1',
      kind: 'HttpQueue',
      metadata: { name: 'a' },
      spec: { timeoutSeconds: 1 },
    }
    const text =
      editQueueManifest(JSON.stringify(manifest), 1, { timeoutSeconds: 2, maxParallelism: 1 }) ?? ''
    expect(JSON.parse(text)).toEqual({ ...manifest, spec: { timeoutSeconds: 2, maxParallelism: 1 } })
  })
})

describe('a JSON merge patch', () => {
  it('removes, replaces and goes into maps', () => {
    const before = { a: 1, b: { c: 2, d: 3 }, e: [1, 2] }
    expect(mergePatch(before, { a: null, b: { c: null, f: 4 }, e: [3] })).toEqual({
      b: { d: 3, f: 4 },
      e: [3],
    })
    expect(mergePatch(undefined, { a: { b: null } })).toEqual({ a: {} })
  })

  it('keeps the comments of entries that stay in a list', () => {
    const refs = '      - { name: old, key: k } # the old one\n      - { name: older, key: k }\n'
    const text = `kind: TeamSettings\nspec:\n  signing:\n    # newest first\n    secretRefs:\n${refs}`
    const entries = ['new', 'old'].map((name) => ({ name, key: 'k' }))
    const patched =
      patchSpecText(text, { document: 1, item: null }, { signing: { secretRefs: entries } }) ?? ''
    expect(patched).toContain('- {name: new, key: k}\n')
    expect(patched).toContain('- {name: old, key: k} # the old one\n')
    expect(patched).not.toContain('older')
    expect(patched).toContain('# newest first\n')
  })
})

describe('a new manifest', () => {
  it('says only what differs from the defaults, and reads back the same', () => {
    const settings = { ...DEFAULT_QUEUE_SETTINGS, retryDelays: [2, 5] }
    const text = newQueueManifest({ name: 'mails-out', namespace: null }, { name: 'Mails: out', settings })
    expect(text).toBe(
      `apiVersion: punctual.dev/v1alpha1
kind: HttpQueue
metadata:
  name: mails-out
spec:
  queueName: "Mails: out"
  retryDelays: [2, 5]
`,
    )
    expect(settingsIn(text)).toEqual(settings)
    expect(
      settingsIn(newQueueManifest({ name: 'x', namespace: null }, { name: 'x', settings: OTHER })),
    ).toEqual(OTHER)
  })

  it.each([
    'null',
    '1',
    'true',
    '# x',
    'a: b',
    '- x',
    '"',
    "'",
    '\t',
    '\n',
    '\u0000',
    '😀',
    '{',
    '*a',
    '0x1',
  ])('holds the queue name %j as it is', (name) => {
    const { resources, problems } = reader.read(
      'a.yaml',
      newQueueManifest(
        { name: nameOfPushedQueue(name), namespace: 'billing' },
        { name, settings: DEFAULT_QUEUE_SETTINGS },
      ),
    )
    expect(problems).toEqual([])
    expect(resources[0]?.resource).toMatchObject({ queueName: name, team: 'billing' })
  })
})

describe('the name of a pushed queue', () => {
  it.each([
    ['Mails: out', /^mails-out-[0-9a-f]{8}$/],
    ['日本', /^queue-[0-9a-f]{8}$/],
    ['--', /^queue-[0-9a-f]{8}$/],
    ['x'.repeat(255), /^x{48}-[0-9a-f]{8}$/],
  ])('%j is DNS-safe', (name, pattern) => {
    expect(nameOfPushedQueue(name)).toMatch(pattern)
  })

  it('differs where the slug does not', () => {
    expect(nameOfPushedQueue('a b')).not.toBe(nameOfPushedQueue('a-b'))
  })
})

describe('removed resources', () => {
  it('leave the others and their comments', () => {
    expect(removeResources(TEXT, [FIRST])).toBe(TEXT.slice(TEXT.indexOf('# second')))
    expect(removeResources(TEXT, [SECOND])).toBe(TEXT.slice(0, TEXT.indexOf('---')))
  })

  it('leave nothing when they were all', () => {
    expect(removeResources(TEXT, [FIRST, SECOND])).toBeNull()
    expect(removeResources(`${TEXT}---\n# words\n`, [FIRST, SECOND])).toBeNull()
  })
})
