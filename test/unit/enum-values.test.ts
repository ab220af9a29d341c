import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { parse } from 'yaml'
import type { AuditRecord, Waiting } from '../../clients/typescript/src/client.ts'
import { headlineOf, TYPES as ALERT_TYPES } from '../../dashboard/src/features/alerts/alert-text.ts'
import { sentenceOf } from '../../dashboard/src/features/audit/sentence.ts'
import { failureText as bulkFailureText } from '../../dashboard/src/features/jobs/bulk/failure-text.ts'
import { waitingText } from '../../dashboard/src/features/jobs/chain/waiting-text.ts'
import { STATES as ISSUE_STATES } from '../../dashboard/src/features/issues/issue-text.ts'
import { toldOf, TYPES as CHANNEL_TYPES } from '../../dashboard/src/features/notifications/channel-state.ts'
import { STOPPED_WORDS, throttleOf } from '../../dashboard/src/features/queues/stops/stop-words.ts'
import { successText } from '../../dashboard/src/format/values/assertions.ts'
import { reasonText } from '../../dashboard/src/format/failure-reasons.ts'
import { textOf } from '../../dashboard/src/format/values/known-values.ts'
import { labelOf } from '../../dashboard/src/ui/tone.ts'
import { waitingText as waitingLine } from '../../src/cli/jobs/waiting-text.ts'

const ROOT = join(import.meta.dirname, '../..')
const read = (path: string) => readFileSync(join(ROOT, path), 'utf8')

interface Schema {
  readonly enum?: readonly unknown[]
  readonly const?: unknown
  readonly [name: string]: unknown
}
const { paths, components } = parse(read('openapi.yaml')) as {
  paths: unknown
  components: { schemas: Record<string, Schema>; parameters: unknown }
}

/** The values of all enums and constants below a schema. */
function valuesIn(schema: unknown): string[] {
  if (typeof schema !== 'object' || schema === null) return []
  const { enum: values, const: constant } = schema as Schema
  if (typeof constant === 'string' && /^\w+$/.test(constant)) return [constant]
  if (Array.isArray(values)) return values.filter((value) => typeof value === 'string')
  return [...new Set(Object.values(schema).flatMap(valuesIn))]
}
const valuesOf = (name: string, ...path: readonly string[]): string[] =>
  valuesIn(path.reduce<unknown>((one, key) => (one as Schema)[key], components.schemas[name]))

const FAILURES = valuesOf('FailureReason')
const WAITS = valuesOf('Waiting', 'properties', 'reason')
const ASSERTIONS = valuesOf('SuccessAssertion')
const ALERT_REASONS = valuesOf('AlertReason')
const BULK_FAILURES = valuesOf('BulkFailure', 'properties', 'reason')

/** The code in the first cells of the tables of a section, of which one may name several values. */
function rowsOf(page: string, heading: string): string[] {
  const text = read(page)
  const [, below = ''] = `\n${text}`.split(`\n${heading}\n`)
  const [section = ''] = below.split(/^#{2,3} /m)
  return [...section.matchAll(/^\| ([^|]+)\|/gm)].flatMap(([, cell = '']) =>
    [...cell.matchAll(/`([^`]+)`/g)].map(([, code = '']) => code),
  )
}

describe('reference pages', () => {
  test('something was read', () => {
    expect([FAILURES, WAITS, ASSERTIONS, ALERT_REASONS, BULK_FAILURES].map((one) => one.length > 2)).toEqual(
      Array.from({ length: 5 }, () => true),
    )
  })

  test.each([
    ['why an attempt failed', FAILURES, 'api.md', '### Why an attempt failed'],
    ['why a job waits', WAITS, 'api.md', '### Why a job waits'],
    ['assertions', ASSERTIONS, 'api.md', '### Change a queue'],
    ['types of alerts', valuesOf('AlertType'), 'alerts.md', '## What raises an alert'],
    ['why a job of a bulk failed', BULK_FAILURES, 'bulk.md', '# Many jobs at once'],
  ])('%s: each value has its row', (_, values, page, heading) => {
    const rows = rowsOf(`docs/reference/${page}`, heading)
    expect(values.filter((value) => !rows.includes(value))).toEqual([])
  })

  test('every value of an enum stands in code on one of them', () => {
    const code = globSync('docs/reference/*.md', { cwd: ROOT })
      .flatMap((page) => [...read(page).matchAll(/```.*?```|`[^`\n]+`/gs)].map(([span]) => span))
      .join('\n')
    const words = new Set(code.match(/[\w-]+/g))
    const missing = valuesIn({ paths, ...components.schemas, parameters: components.parameters }).filter(
      (value) => !words.has(value),
    )
    expect(missing).toEqual([])
  })
})

/** A value that a later API may send. */
const NEW = 'of_tomorrow'
const WAITING: Waiting = {
  reason: 'behind',
  jobs_before: null,
  is_exact: true,
  in_flight: null,
  limit: null,
  window: null,
  until: null,
  estimated_start_at: null,
}
const sentence = (outcome: string) =>
  sentenceOf({
    actor: { kind: 'token', name: 'ann' },
    action: 'pause',
    resource: { kind: 'queue', id: 12, name: 'emails' },
    outcome,
    before: null,
    after: null,
  } as unknown as AuditRecord).before

/** What a page says of a value. */
const TOLD: ReadonlyArray<readonly [string, readonly string[], (value: never) => string]> = [
  ['assertions', ASSERTIONS, (type) => successText([{ type, value: 7 }])],
  ['failures', FAILURES, reasonText],
  ['reasons to wait', WAITS, (reason) => waitingText({ ...WAITING, reason }, 'emails')],
  ['reasons to wait, by the CLI', WAITS, (reason) => waitingLine({ ...WAITING, reason })],
  ['alerts', ALERT_REASONS, (reason) => headlineOf({ type: 'failure', reason })],
  ['types of alerts', valuesOf('AlertType'), (type) => labelOf(ALERT_TYPES, type).label],
  ['channels', valuesOf('ChannelType'), (type) => textOf(CHANNEL_TYPES, type)],
  ['alerts of a channel', valuesOf('AlertType'), (type) => toldOf([type])],
  ['issues', valuesOf('IssueState'), (state) => labelOf(ISSUE_STATES, state).label],
  ['failures of a bulk', BULK_FAILURES, bulkFailureText],
  ['stopped jobs', valuesOf('StoppedJobs'), (reason) => textOf(STOPPED_WORDS, reason)],
  ['throttled queues', valuesOf('Throttled'), (reason) => throttleOf(reason).label],
  ['audited outcomes', valuesOf('AuditRecord', 'properties', 'outcome'), sentence],
]

describe('the pages', () => {
  test.each(TOLD)('say something of their own of %s', (_, values, tell) => {
    expect(values.length).toBeGreaterThan(1)
    const texts = values.map((value) => tell(value as never))
    expect(new Set(texts).size).toBe(values.length)
    expect(
      texts.filter(
        (text, index) =>
          text.includes(`: ${values[index]}`) || (text === values[index] && text.includes('_')),
      ),
    ).toEqual([])
  })

  test.each(TOLD)('call a value of %s that they do not know by its name', (_, values, tell) => {
    expect(tell(NEW as never)).toMatch(new RegExp(NEW, 'i'))
    expect(values).not.toContain(NEW)
  })
})
