import { afterEach, describe, expect, test } from 'vitest'
import { tokenPrincipal } from '../../../../src/domain/access/token-principal.ts'
import { NO_TERMS } from '../../../../src/domain/access/token-terms.ts'
import { EditRefusedError } from '../../../../src/domain/errors.ts'
import type { Channel } from '../../../../src/domain/notifications/channel.ts'
import type { ChannelStore, ChannelTestResult, GivenChannel } from '../../../../src/ports/notifications.ts'
import { NO_TEAM_SETTINGS } from '../../../../src/ports/settings.ts'
import { FakeAuditLog } from '../../../support/fake-audit-log.ts'
import { type ApiChange, BEARER, call, type RunningApi, startApi } from '../api-fixture.ts'

let api: RunningApi | null = null
afterEach(async () => api?.close())

const PATH = '/api/notification-channels'
const URL_OF_OPS = 'https://hooks.slack.com/services/canary'
const OPS = { name: 'ops', type: 'slack', url: URL_OF_OPS }
const SENT: ChannelTestResult = { status: 'answered', isSent: true, answer: '200 ok', tookMs: 12 }
const NOT_SENT: ChannelTestResult = {
  status: 'answered',
  isSent: false,
  answer: '404 no_service',
  tookMs: 12,
}

/** Channels in memory, in force at once unless `isLate`. */
function memory({ isLate = false, isStuck = false } = {}) {
  const all = new Map<string, GivenChannel>()
  const log: string[] = []
  const kept = ({ name, type, alertTypes, url, secretName }: GivenChannel) => ({
    name,
    type,
    alertTypes,
    secretRef: url === null ? null : { name: secretName, key: 'url' },
  })
  const store: ChannelStore = {
    list: () => Promise.resolve([...all.values()].map(kept)),
    create: (_team, given) => {
      log.push(`create ${given.name}`)
      all.set(given.name, given)
      return Promise.resolve(kept(given))
    },
    edit: (_team, name, alertTypes) => {
      const found = all.get(name)
      if (found === undefined) return Promise.resolve('not_found')
      all.set(name, { ...found, alertTypes })
      return Promise.resolve(kept({ ...found, alertTypes }))
    },
    remove: (_team, name) => {
      if (isStuck) return Promise.reject(new EditRefusedError('It keeps changing.'))
      log.push(`remove ${name}`)
      return Promise.resolve(all.delete(name) ? 'removed' : 'not_found')
    },
    whenInForce: () => Promise.resolve(!isLate),
  }
  const channels = (): readonly Channel[] => [...all.values()]
  return { store, log, all, teamSettings: { of: () => ({ ...NO_TEAM_SETTINGS, channels: channels() }) } }
}

async function start(
  { store, teamSettings, log }: ReturnType<typeof memory>,
  { answer = SENT, ...parts }: ApiChange & { readonly answer?: ChannelTestResult } = {},
) {
  api = await startApi({
    channels: store,
    teamSettings,
    channelTester: {
      requestTest: (_team, channel) => {
        log.push(`test ${channel}`)
        return Promise.resolve(answer)
      },
    },
    ...parts,
  })
  const { port } = api
  return (method: 'GET' | 'POST' | 'PATCH' | 'DELETE', path = PATH, body?: object) =>
    call(port, path, {
      method,
      headers: { ...BEARER, ...(body && { 'content-type': 'application/json' }) },
      ...(body && { body: JSON.stringify(body) }),
    })
}

describe('a new channel', () => {
  test('is tested, kept, and shown without its URL', async () => {
    const channels = memory()
    const auditLog = new FakeAuditLog()
    const send = await start(channels, { auditLog })
    const made = await send('POST', PATH, OPS)
    const shown = {
      name: 'ops',
      type: 'slack',
      alert_types: ['failure', 'recovery', 'limit_warning'],
      secret_ref: { name: 'punctual-channel-07070707', key: 'url' },
    }
    expect([made.status, made.json]).toEqual([201, shown])
    expect(channels.log).toEqual(['create ops', 'test ops'])
    expect(channels.all.get('ops')?.url).toBe(URL_OF_OPS)
    const list = await send('GET')
    expect(list.json).toEqual({ channels: [shown], next_cursor: null })
    expect(JSON.stringify([made.text, list.text, auditLog])).not.toContain('canary')
  })

  test('that does not take its test is removed again, and the answer says why', async () => {
    const channels = memory()
    const send = await start(channels, { answer: NOT_SENT })
    const { status, json } = await send('POST', PATH, OPS)
    expect(status).toBe(409)
    expect(json).toMatchObject({
      error: 'The channel did not accept the test message: 404 no_service It was not kept.',
    })
    expect(channels.log).toEqual(['create ops', 'test ops', 'remove ops'])
    const again = await send('POST', PATH, OPS)
    expect(again.text).toContain('404 no_service')
  })

  test('that is not in force in time is removed again, untested', async () => {
    const channels = memory({ isLate: true })
    const send = await start(channels)
    const { status, text } = await send('POST', PATH, OPS)
    expect([status, channels.log]).toEqual([409, ['create ops', 'remove ops']])
    expect(text).toContain('could not be tested')
  })

  test('that cannot be removed again is named, so that somebody can', async () => {
    const send = await start(memory({ isStuck: true }), { answer: NOT_SENT })
    const { status, text } = await send('POST', PATH, OPS)
    expect([status, text]).toEqual([409, expect.stringContaining('delete the channel ops')])
  })

  test('is kept untested where that is asked for', async () => {
    const channels = memory()
    const send = await start(channels, { answer: NOT_SENT })
    expect((await send('POST', PATH, { ...OPS, test: false })).status).toBe(201)
    expect(channels.log).toEqual(['create ops'])
  })

  test('of e-mail has no URL', async () => {
    const channels = memory()
    const send = await start(channels)
    const { json } = await send('POST', PATH, { name: 'mail', type: 'email', alert_types: ['failure'] })
    expect(json).toMatchObject({ alert_types: ['failure'], secret_ref: null })
  })

  test.each([
    [{ type: 'slack', url: URL_OF_OPS }, ['name']],
    [{ ...OPS, name: 'Ops' }, ['name']],
    [{ name: 'ops', url: URL_OF_OPS }, ['type']],
    [{ ...OPS, type: 'sms' }, ['type']],
    [{ name: 'ops', type: 'slack' }, ['url']],
    [{ ...OPS, type: 'email' }, ['url']],
    [{ ...OPS, url: 'https://example.com/canary' }, ['url']],
    [{ ...OPS, type: 'webhook', url: 'http://169.254.169.254/canary' }, ['url']],
    [{ ...OPS, alert_types: [] }, ['alert_types']],
    [{ ...OPS, alert_types: ['failure', 'rain'] }, ['alert_types.1']],
    [{ ...OPS, test: 'yes' }, ['test']],
    [{ ...OPS, secret: 'x' }, ['secret']],
  ])('is refused as %o', async (body, fields) => {
    const channels = memory()
    const send = await start(channels)
    const { status, json, text } = await send('POST', PATH, body)
    expect(status).toBe(422)
    expect(Object.keys((json as { errors: object }).errors)).toEqual(fields)
    expect(text).not.toContain('canary')
    expect(channels.log).toEqual([])
  })
})

test('a change of its alerts is in the audit log; a channel that is not there is a 404', async () => {
  const channels = memory()
  const auditLog = new FakeAuditLog()
  const send = await start(channels, { auditLog })
  await send('POST', PATH, OPS)
  const edited = await send('PATCH', `${PATH}/ops`, { alert_types: ['warning', 'warning'] })
  expect([edited.status, edited.json]).toEqual([200, expect.objectContaining({ alert_types: ['warning'] })])
  expect((await send('PATCH', `${PATH}/ops`, {})).status).toBe(422)
  expect((await send('PATCH', `${PATH}/gone`, { alert_types: ['warning'] })).status).toBe(404)
  expect((await send('DELETE', `${PATH}/gone`)).status).toBe(404)
  expect((await send('DELETE', `${PATH}/ops`)).status).toBe(204)
  expect(channels.all.size).toBe(0)
  const entries = auditLog.ended.map((end) => [end?.entry.action, end?.entry.resource.kind, end?.outcome])
  expect(entries).toEqual(
    expect.arrayContaining([
      ['create', 'channel', 'done'],
      ['edit', 'channel', 'done'],
      ['delete', 'channel', 'done'],
    ]),
  )
})

test('everything needs the permission of an admin', async () => {
  const principal = tokenPrincipal('default', 'ci', { ...NO_TERMS, scopes: ['operate'] })
  const send = await start(memory(), { tokens: { principalOf: () => principal } })
  const statuses = [
    await send('GET'),
    await send('POST', PATH, OPS),
    await send('PATCH', `${PATH}/ops`, { alert_types: ['failure'] }),
    await send('DELETE', `${PATH}/ops`),
  ].map(({ status }) => status)
  expect(statuses).toEqual([403, 403, 403, 403])
})
