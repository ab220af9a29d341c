import { request as send } from 'node:http'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { COSTLY_PER_TEAM_MAX, CostGate } from '../../../../src/domain/shares/cost-gate.ts'
import { until } from '../../../support/until.ts'
import { call, GOOD, NOW_MS, OTHER_TOKEN, type RunningApi, startApi, TOKEN } from '../api-fixture.ts'

const as = (token: string) => ({ authorization: `Bearer ${token}`, 'content-type': 'application/json' })
const SCHEDULES = JSON.stringify({
  recurring: Array.from({ length: 10 }, () => ({ cron_expression: '0 3 * * *', duration_seconds: 3_600 })),
})
const CALENDAR = '/api/window-openings?after=2026-11-01T00:00:00Z&before=2026-12-01T00:00:00Z'
const LARGE = JSON.stringify({ ...GOOD, payload: { text: 'x'.repeat(100_000) } })

/** A gate whose turns the test makes, one slice each. */
function heldGate() {
  let nowMs = 0
  const waiting: Array<() => void> = []
  const gate = new CostGate({
    monotonicMs: () => (nowMs += 1),
    nextTurn: (run) => void waiting.push(run),
  })
  const turn = async (): Promise<void> => {
    for (const run of waiting.splice(0)) run()
    await new Promise((resolve) => setImmediate(resolve))
  }
  return {
    gate,
    turn,
    /** Makes turns until it is answered. */
    finish: async <T>(answer: Promise<T>): Promise<T> => {
      let isOver = false
      const over = answer.finally(() => (isOver = true))
      while (!isOver) await turn()
      return over
    },
  }
}

let held: ReturnType<typeof heldGate>
let api: RunningApi
beforeEach(async () => {
  held = heldGate()
  api = await startApi({ gate: held.gate })
})
afterEach(() => api.close())

/** Of bodies. */
function noteVisits(gate: CostGate) {
  const visits = { begun: 0, ended: 0 }
  const admit = gate.admit.bind(gate)
  gate.admit = (team) => {
    const visit = admit(team)
    const leave = visit.leave.bind(visit)
    visits.begun += 1
    visit.leave = () => {
      visits.ended += 1
      leave()
    }
    return visit
  }
  return visits
}

/** Asks, and notes the name once it is answered. */
function asker() {
  const answered: string[] = []
  const ask = async (name: string, token: string, path: string, body?: string) => {
    const answer = await call(api.port, path, {
      method: body === undefined ? 'GET' : 'POST',
      headers: as(token),
      ...(body === undefined ? {} : { body }),
    })
    answered.push(name)
    return answer
  }
  return { answered, ask }
}

const push = (ask: ReturnType<typeof asker>['ask'], token: string) =>
  ask('push', token, '/api/jobs', JSON.stringify(GOOD))

test('between two slices of one team another team pushes, and so does the team itself', async () => {
  const { answered, ask } = asker()
  const preview = ask('preview', TOKEN, '/api/window-openings', SCHEDULES)
  for (let slice = 0; slice < 3; slice += 1) {
    expect((await push(ask, OTHER_TOKEN)).status).toBe(201)
    expect((await push(ask, TOKEN)).status).toBe(201)
    await held.turn()
  }
  expect(answered).toEqual(Array(6).fill('push'))
  expect((await held.finish(preview)).status).toBe(200)
})

test('a preview of a second team is done while the first has begun one of its many', async () => {
  const { answered, ask } = asker()
  const many = Array.from({ length: 8 }, () => ask('one', TOKEN, '/api/window-openings', SCHEDULES))
  // The first that comes begins at once; the others have to be at the gate as well.
  await push(ask, OTHER_TOKEN)
  const other = ask('other', OTHER_TOKEN, '/api/window-openings', SCHEDULES)
  await push(ask, OTHER_TOKEN)
  expect((await held.finish(other)).status).toBe(200)
  expect(answered).not.toContain('one')
  for (const { status } of await held.finish(Promise.all(many))) expect(status).toBe(200)
})

describe('with as many requests as a team may have at the gate', () => {
  let sent: ReturnType<typeof asker>
  let all: Array<ReturnType<ReturnType<typeof asker>['ask']>>
  beforeEach(async () => {
    sent = asker()
    all = Array.from({ length: COSTLY_PER_TEAM_MAX - 1 }, () => sent.ask('one', TOKEN, CALENDAR))
    await push(sent.ask, OTHER_TOKEN)
  })
  afterEach(async () => {
    await held.finish(Promise.all(all))
  })

  test.each([
    ['previews of windows', '/api/window-openings', SCHEDULES],
    ['previews of crons', '/api/crons/preview', '{"cron_expression":"0 3 * * *","count":100}'],
    ['calendars', CALENDAR, undefined],
    ['statistics', '/api/stats', undefined],
    ['long pages of a list', '/api/crons?limit=101', undefined],
  ])('one more is refused: %s', async (_name, path, body) => {
    all.push(sent.ask('last', TOKEN, CALENDAR))
    await push(sent.ask, OTHER_TOKEN)
    const refused = await sent.ask('refused', TOKEN, path, body)
    expect(refused).toMatchObject({
      status: 429,
      json: { error: expect.stringContaining(`At most ${COSTLY_PER_TEAM_MAX} searches, previews`) },
    })
    expect(refused.headers['retry-after']).toBe('2')
    // What is cheap, what is another team's, and what has a budget of its own goes on.
    expect((await push(sent.ask, TOKEN)).status).toBe(201)
    expect((await sent.ask('cheap', TOKEN, '/api/crons')).status).toBe(200)
    const others = sent.ask('other', OTHER_TOKEN, path, body)
    const large = sent.ask('large', TOKEN, '/api/jobs', LARGE)
    expect((await held.finish(others)).status).toBe(200)
    expect((await held.finish(large)).status).toBe(201)
  })

  test('a client that hangs up makes room', async () => {
    const request = send({ port: api.port, path: CALENDAR, headers: as(TOKEN) })
    request.on('error', () => undefined)
    request.end()
    const isFull = () => {
      const visit = held.gate.enter('default')
      visit?.leave()
      return visit === null
    }
    await until('the last place is taken', isFull)
    request.destroy()
    await until('it is free again', () => !isFull())
    expect(sent.answered).not.toContain('one')
  })
})

test('a large body waits for its turn, a small one does not', async () => {
  const { answered, ask } = asker()
  const preview = ask('preview', TOKEN, '/api/window-openings', SCHEDULES)
  await push(ask, TOKEN)
  const large = ask('large', TOKEN, '/api/jobs', LARGE)
  expect((await push(ask, TOKEN)).status).toBe(201)
  expect(answered).toEqual(['push', 'push'])
  expect((await held.finish(large)).status).toBe(201)
  await held.finish(preview)
  expect(api.pushed.at(-1)?.request.payload).toBe(JSON.stringify({ text: 'x'.repeat(100_000) }))
})

test('the bytes of a large body are held until it is read, and given back when its client hangs up', async () => {
  await api.close()
  api = await startApi({ gate: held.gate, intakeBytesMax: 150_000 })
  const { ask } = asker()
  const preview = ask('preview', TOKEN, '/api/window-openings', SCHEDULES)
  await push(ask, OTHER_TOKEN)
  const visits = noteVisits(held.gate)
  const request = send({
    port: api.port,
    path: '/api/jobs',
    method: 'POST',
    headers: { ...as(TOKEN), 'content-length': LARGE.length },
  })
  request.on('error', () => undefined)
  request.end(LARGE)
  const other = () => ask('other', OTHER_TOKEN, '/api/jobs', LARGE)
  await until('the body waits at the gate', () => visits.begun === 1)
  expect((await other()).status).toBe(503)
  request.destroy()
  await until('it has left', () => visits.ended > 0)
  expect((await held.finish(other())).status).toBe(201)
  await held.finish(preview)
  expect(
    api.pushed.filter(({ team }) => team === 'default'),
    'nobody waits for it any more',
  ).toEqual([])
})

test('a fault in costly work is a 500 of that request alone', async () => {
  await api.close()
  api = await startApi({
    gate: held.gate,
    statistics: {
      ofTeam: async () => new Map([[Math.floor(NOW_MS / 60_000) - 1, null as never]]),
      ofQueue: async () => null,
    },
  })
  const { ask } = asker()
  const broken = ask('broken', TOKEN, '/api/stats')
  const preview = ask('preview', TOKEN, '/api/window-openings', SCHEDULES)
  expect((await held.finish(broken)).status).toBe(500)
  expect((await held.finish(preview)).status).toBe(200)
})
