/**
 * Every operation of the contract, asked wrongly in every way by somebody who may ask, of a whole installation: what is
 * added to openapi.yaml is covered by itself. Every answer must be one that the document has for its status. Those who
 * may not ask are in `access/access-matrix`.
 */
import { afterAll, beforeAll, expect, test } from 'vitest'
import {
  faultsOf,
  hasQuery,
  isAskedOfInstallation,
  type Operation,
  operations,
  parametersOf,
  requestSchemaOf,
  resolve,
  validatorOf,
} from '../../support/rules/contract-document.ts'
import type { ApiAnswer, ApiClient } from '../../support/servers/api-client.ts'
import { createStandaloneWorld } from '../../support/servers/standalone-world.ts'

const world = createStandaloneWorld()
let client: ApiClient
/** Of the team `default`, by the name of the parameter. */
const ids: Record<string, string> = {}

beforeAll(async () => {
  // With a test clock, or its operations would be a 404 to everybody.
  client = (await world.start(world.newFolder(), { PUNCTUAL_TEST_CLOCK: '1' })).client
  const made = async (path: string, body: object) => (await client.send<never>('POST', path, body)).body
  const pushed: { job_id: number; queue_id: number } = await made('/api/jobs', {
    queue: 'secret-queue',
    url: 'http://127.0.0.1:9/',
    delay: 86_400,
  })
  ids['job_id'] = String(pushed.job_id)
  ids['queue_id'] = String(pushed.queue_id)
  const cron: { id: number } = await made('/api/crons', {
    name: 'secret-cron',
    url: 'http://127.0.0.1:9/',
    cron_expression: '0 0 1 1 *',
    is_active: false,
  })
  ids['cron_id'] = String(cron.id)
  const window: { id: string } = await made('/api/maintenance-windows', {
    name: 'secret-window',
    start_at: '2030-01-01T00:00:00Z',
    end_at: '2030-01-01T01:00:00Z',
  })
  ids['window_id'] = window.id
}, 60_000)
afterAll(() => world.close())

interface Asked {
  readonly method: string
  readonly path: string
  readonly body?: unknown
}

function ask({ method, path, body }: Asked): Promise<ApiAnswer> {
  return client.send(method, path, body)
}

interface Case {
  readonly id: string
  readonly method: string
  readonly path: string
  readonly operation: Operation
  /** The first example of the document. */
  readonly body: unknown
}

const ALL: Case[] = operations().map(({ method, path, operation }) => ({
  id: operation.operationId,
  method,
  path,
  operation,
  body: Object.values(operation.requestBody?.content?.['application/json']?.examples ?? {})[0]?.value,
}))
/** Those of a session are asked with its cookie, by tests of their own. */
const CASES = ALL.filter(({ operation }) => operation.security === undefined)
const refusedWith = (status: string) =>
  CASES.filter(({ path, operation }) => isAskedOfInstallation(path, operation, status))
const named = (cases: readonly Case[]) => cases.map((one) => [one.id, one] as const)

/** The path with ids of the team `default`; those of unknown kinds exist in no team. */
function pathOf({ path }: Case): string {
  return path.replaceAll(/\{(\w+)\}/g, (_, name: string) => ids[name] ?? '1')
}

/** That the document has this answer for this status. */
function expectDocumented({ operation }: Case, { status, body, headers }: ApiAnswer): void {
  expect(faultsOf(operation, { status, body, header: (name) => headers.get(name) })).toEqual([])
}

async function expectRefusal(one: Case, asked: Partial<Asked>, status: number): Promise<unknown> {
  const answer = await ask({ method: one.method, path: pathOf(one), body: one.body, ...asked })
  expect([answer.status, answer.body]).toEqual([status, expect.anything()])
  expectDocumented(one, answer)
  return answer.body
}

test('something is walked', () => {
  expect(CASES.length).toBeGreaterThan(35)
  expect(
    CASES.filter(({ body, operation }) => body === undefined && operation.requestBody?.required === true),
  ).toEqual([])
})

test.each(named(refusedWith('404')))('%s of nothing is a 404', async (_id, one) => {
  const nothing = [
    '999999999999',
    '-1',
    '1.5',
    '1e3',
    '9'.repeat(30),
    'nobody',
    '%00',
    '%F0%9F%92%A9',
    'a'.repeat(300),
  ]
  for (const id of nothing) {
    const path = one.path.replace(/\{\w+\}/, id)
    expect(await expectRefusal(one, { path }, 404)).toEqual({ error: 'Not found' })
  }
})

/** One of each type of JSON. */
const ANY_JSON: readonly unknown[] = [true, 7, 1.5, 'x\u0000y', '', [], [[]], {}, { a: { b: 1 } }]
/** A body that is pushed may be any JSON. */
const OF_ANY_TYPE: ReadonlySet<string> = new Set(['body'])
const WITH_BODY = refusedWith('422').filter(({ operation }) => requestSchemaOf(operation) !== null)
test.each(named(WITH_BODY))('%s with a field of a wrong type is a 422 that names it', async (_id, one) => {
  const { properties } = requestSchemaOf(one.operation) ?? {}
  expect(Object.keys(properties ?? {})).not.toEqual([])
  for (const [field, schema] of Object.entries(properties ?? {})) {
    const isValid = validatorOf(schema)
    // A batch has a verdict on each of its items, with a status of its own.
    const isBatch = one.id === 'pushJobs'
    const wrong = ANY_JSON.filter(
      (value) => !(isBatch && Array.isArray(value) && value.length > 0) && !isValid(value),
    )
    expect(wrong.length === 0, field).toBe(OF_ANY_TYPE.has(field))
    for (const value of wrong) {
      const body = { ...(one.body as object), [field]: value }
      const { errors } = (await expectRefusal(one, { body }, 422)) as { errors: Record<string, string[]> }
      expect(
        Object.keys(errors).map((name) => name.split('.')[0]),
        JSON.stringify(body),
      ).toContain(field)
    }
  }
  const unknown = await expectRefusal(one, { body: { ...(one.body as object), surely_unknown: 1 } }, 422)
  expect(unknown).toMatchObject({ errors: { surely_unknown: [expect.any(String)] } })
  const bodies = ['[]', 'null', '7', '"x"', '{']
  if (one.operation.requestBody?.required === true) bodies.push('')
  for (const body of bodies) {
    const answer = await ask({ method: one.method, path: pathOf(one), body })
    expect([400, 415, 422]).toContain(answer.status)
    expectDocumented(one, answer)
  }
})

const WITH_QUERY = refusedWith('422').filter(({ path, operation }) => hasQuery(path, operation))
test.each(named(WITH_QUERY))('%s with a wrong query is a 422 that names the parameter', async (_id, one) => {
  const query = parametersOf(one.path, one.operation).filter(({ in: place }) => place === 'query')
  for (const { name, schema } of query) {
    const { type, enum: values } = resolve(schema)
    const wrong = values !== undefined || type !== 'string' ? ['', 'x y', '1.5', '-1', '%00'] : ['']
    for (const value of [...wrong.map((text) => `${name}=${text}`), `${name}=1&${name}=2`]) {
      const path = `${pathOf(one)}?${value}`
      const { errors } = (await expectRefusal(one, { path }, 422)) as { errors: object }
      expect(Object.keys(errors), path).toContain(name)
    }
  }
})

const PAGED = WITH_QUERY.filter((one) =>
  parametersOf(one.path, one.operation).some(({ name }) => name === 'cursor'),
)
test.each(named(PAGED))('%s with a cursor of nothing or of another list is a 422', async (_id, one) => {
  const cursors = [
    'x',

    '%00',
    'a'.repeat(1536),
    'a'.repeat(1537),
    Buffer.from('{"team":"other"}').toString('base64url'),
  ]
  for (const other of PAGED.filter(({ id }) => id !== one.id)) {
    const page = await ask({ method: 'GET', path: `${pathOf(other)}?limit=1` })
    const { next_cursor: next } = page.body as { next_cursor: string | null }
    if (next !== null) cursors.push(encodeURIComponent(next))
  }
  for (const cursor of cursors) {
    const body = await expectRefusal(one, { path: `${pathOf(one)}?cursor=${cursor}` }, 422)
    expect(body).toMatchObject({ errors: { cursor: [expect.any(String)] } })
  }
})
