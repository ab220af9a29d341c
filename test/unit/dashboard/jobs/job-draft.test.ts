import { describe, expect, test } from 'vitest'
import type { Job } from '../../../../clients/typescript/src/client.ts'
import { readLines } from '../../../../dashboard/src/format/lines.ts'
import { draftOfJob, draftOfJson } from '../../../../dashboard/src/features/jobs/send/draft-reading.ts'
import { changeOf } from '../../../../dashboard/src/features/jobs/send/job-change.ts'
import {
  bodyOf,
  EMPTY_DRAFT,
  fieldsOf,
  type JobDraft,
} from '../../../../dashboard/src/features/jobs/send/job-draft.ts'
import { attemptOf, jobOf } from './chains.ts'

const FULL: JobDraft = {
  queue: 'emails',
  url: 'https://example.com/hook',
  method: 'PUT',
  headers: 'X-A: 1\nX-B: a: b',
  payload: '{"big": 12345678901234567890}',
  bodyKind: 'payload',
  start: 'delay',
  delay: '300',
  runAt: '',
  retries: 'own',
  retryDelays: '60, 1800',
  timeout: '10',
  tags: 'tenant: acme',
  callbackUrl: 'https://example.com/done',
  callbackEvents: 'every_attempt',
}

const bodyOfDraft = (draft: JobDraft): string => bodyOf(fieldsOf(draft).fields)

describe('a body', () => {
  test('has what was typed, with all digits', () => {
    const text = bodyOfDraft(FULL)
    expect(text).toContain('"payload": {"big": 12345678901234567890}')
    expect(JSON.parse(text)).toMatchObject({
      queue: 'emails',
      method: 'PUT',
      delay: 300,
      timeout_seconds: 10,
      retry_delays: [60, 1800],
      headers: { 'X-A': '1', 'X-B': 'a: b' },
      tags: { tenant: 'acme' },
      retries_enabled: true,
    })
  })

  test('leaves out what is empty', () => {
    expect(bodyOfDraft(EMPTY_DRAFT)).toBe('{}')
    expect(bodyOfDraft({ ...EMPTY_DRAFT, queue: 'a', retries: 'off' })).toBe(
      '{\n  "queue": "a",\n  "retries_enabled": false\n}',
    )
  })

  test('hands on what is no number, for the server to refuse', () => {
    expect(JSON.parse(bodyOfDraft({ ...EMPTY_DRAFT, start: 'delay', delay: 'soon' }))).toEqual({
      delay: 'soon',
    })
    expect(JSON.parse(bodyOfDraft({ ...EMPTY_DRAFT, retries: 'own', retryDelays: '5, x 7' }))).toMatchObject({
      retry_delays: [5, 'x', 7],
    })
  })

  test.each([
    ['[1]', /JSON object/],
    ['{', /not JSON/],
    ['7', /JSON object/],
  ])('is not sent with the payload %s', (payload, mistake) => {
    expect(fieldsOf({ ...EMPTY_DRAFT, payload }).mistakes.payload).toMatch(mistake)
  })

  test('becomes the same draft again', () => {
    expect(draftOfJson(bodyOfDraft(FULL)).draft).toEqual(FULL)
    const hostile = {
      ...EMPTY_DRAFT,
      queue: '"}{\u202E',
      tags: '<b>: "x"',
      runAt: '2026-12-24T18:00:00.000Z',
    }
    const at: JobDraft = { ...hostile, start: 'at' }
    expect(draftOfJson(bodyOfDraft(at)).draft).toEqual(at)
  })

  test('that is no job says so', () => {
    expect(draftOfJson('[').mistake).toMatch(/not JSON/)
    expect(draftOfJson('[]').mistake).toMatch(/JSON object/)
    expect(draftOfJson('{"qeue": 1}').mistake).toBe('A job has no field "qeue".')
  })
})

describe('a change', () => {
  const before = fieldsOf(FULL).fields
  const changed = (after: Partial<JobDraft>) =>
    bodyOf(changeOf(before, fieldsOf({ ...FULL, ...after }).fields))

  test('has only what differs, and null for what is taken out', () => {
    expect(changed({})).toBe('{}')
    expect(JSON.parse(changed({ headers: 'X-A: 2', callbackUrl: '', retries: 'queue' }))).toEqual({
      headers: { 'X-A': '2' },
      callback_url: null,
      retries_enabled: null,
      retry_delays: null,
    })
    expect(JSON.parse(changed({ payload: '{}', method: 'POST' }))).toEqual({ payload: {}, method: null })
  })
})

describe('a job', () => {
  const text = '{"job_id": 7, "payload": {"big":12345678901234567890}, "chain": [{"payload": 1}]}'

  test('is shown with its payload readable and exact, and with what is in force', () => {
    const job = jobOf([attemptOf()], { headers: { 'X-A': '1' }, payload: { big: 1 } })
    expect(draftOfJob(job, text)).toMatchObject({
      queue: 'emails',
      headers: 'X-A: 1',
      payload: '{\n  "big": 12345678901234567890\n}',
      retries: 'own',
      retryDelays: '60, 600',
      timeout: '30',
      callbackEvents: 'terminal',
    })
  })

  test('that has ended keeps settings that are not known, and text is not shown as JSON', () => {
    const job = jobOf([attemptOf({ queue: null })], {
      settings: null,
      payload: '(hidden)',
      headers: { 'X-A': '(hidden)' },
    })
    const draft = draftOfJob(job, text)
    expect(draft).toMatchObject({ queue: '', retries: 'kept', timeout: '', payload: '', headers: '' })
    expect(draftOfJson('{}', draft).draft?.retries).toBe('kept')
    expect(draftOfJson('{"retries_enabled": false}', draft).draft?.retries).toBe('off')
  })
})

test.each([
  ['', []],
  [
    ' A : 1 \n\nB:',
    [
      ['A', '1'],
      ['B', ''],
    ],
  ],
])('lines %j are read', (text, pairs) => {
  expect(readLines(text)).toEqual({ pairs, mistake: null })
})

test.each([
  ['A: 1\nB', 'Line 2 is not "name: value".'],
  [': 1', 'Line 1 is not "name: value".'],
  ['A: 1\nA: 2', 'A is given twice.'],
])('lines %j are not', (text, mistake) => {
  expect(readLines(text).mistake).toBe(mistake)
})

describe('a body that is no JSON object', () => {
  const draft = (bodyKind: JobDraft['bodyKind'], payload: string): JobDraft => ({
    ...EMPTY_DRAFT,
    bodyKind,
    payload,
  })
  const given = (fields: JobDraft) => Object.fromEntries(fieldsOf(fields).fields)

  test('is given with its encoding, and a text with its white space', () => {
    expect(given(draft('text', ' a\n'))).toEqual({ body: '" a\\n"', body_encoding: '"text"' })
    expect(given(draft('json', ' [1.50] '))).toEqual({ body: '[1.50]', body_encoding: '"json"' })
    expect(given(draft('base64', 'AP8=\n'))).toEqual({ body: '"AP8="', body_encoding: '"base64"' })
    expect(given(draft('text', ''))).toEqual({})
    expect(fieldsOf(draft('json', '[1')).mistakes.body).toMatch(/^It is not JSON/)
  })

  test.each<[Partial<Job>, JobDraft['bodyKind'], string]>([
    [{ body: 'a', body_encoding: 'text' }, 'text', 'a'],
    [{ body: [1.5], body_encoding: 'json' }, 'json', '[\n  1.50\n]'],
    [{ body: 'AP8=', body_encoding: 'base64' }, 'base64', 'AP8='],
    [{ body: '(hidden)', body_encoding: 'text' }, 'text', ''],
  ])('of a job is what can be changed: %j', (fields, bodyKind, payload) => {
    const job = jobOf([attemptOf()], fields)
    const text = JSON.stringify(job).replace('1.5', '1.50')
    expect(draftOfJob(job, text)).toMatchObject({ bodyKind, payload })
  })

  test('of JSON becomes a draft', () => {
    const read = (text: string) => draftOfJson(text).draft
    expect(read('{"body": "a", "content_type": "a/b"}')).toMatchObject({
      bodyKind: 'text',
      payload: 'a',
      headers: 'Content-Type: a/b',
    })
    expect(read('{"body": [1.50]}')).toMatchObject({ bodyKind: 'json', payload: '[1.50]' })
    expect(read('{"body": "AP8=", "body_encoding": "base64"}')).toMatchObject({ bodyKind: 'base64' })
    expect(read('{"payload": {}}')).toMatchObject({ bodyKind: 'payload', payload: '{}' })
  })

  test('is never changed without its encoding, which alone would mean something else', () => {
    const fields = (...given: Parameters<typeof draft>) => fieldsOf(draft(...given)).fields
    expect(changeOf(fields('base64', 'AP8='), fields('base64', 'AP4='))).toEqual(
      new Map([
        ['body', '"AP4="'],
        ['body_encoding', '"base64"'],
      ]),
    )
    expect(changeOf(fields('text', 'a'), fields('payload', '{}'))).toEqual(
      new Map([
        ['body', 'null'],
        ['body_encoding', 'null'],
        ['payload', '{}'],
      ]),
    )
    expect(changeOf(fields('text', 'a'), fields('text', 'a'))).toEqual(new Map())
  })
})
