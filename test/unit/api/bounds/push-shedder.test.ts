import { EventEmitter } from 'node:events'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { expect, test } from 'vitest'
import { PushShedder } from '../../../../src/api/bounds/push-shedder.ts'
import { RequestRejector } from '../../../../src/api/request-rejector.ts'
import { StallDetector } from '../../../../src/api/stall-detector.ts'
import { SHED_PLACES_MIN } from '../../../../src/domain/shares/shed-limit.ts'
import type { Logger } from '../../../../src/ports/runtime.ts'
import { createFakeClock } from '../../../support/fake-clock.ts'
import { quietLogger } from '../../../support/quiet.ts'

const LONG_MS = 1_500
const BEGUN = ['Pushes are refused: more come than this API can take']

class FakeResponse extends EventEmitter {
  readonly sent: unknown[] = []
  readonly destroyed = false
  headersSent = false

  writeHead(...head: unknown[]): this {
    this.headersSent = true
    this.sent.push(...head)
    return this
  }

  end(body: string): this {
    this.sent.push(body)
    return this
  }
}

/** A shedder whose turns of the event loop the test makes. */
function open() {
  const logged: unknown[] = []
  const note = (...entry: unknown[]): void => void logged.push(entry)
  const logger: Logger = { ...quietLogger, info: note, warn: note }
  const time = createFakeClock()
  const counted = { shed: 0 }
  const shedder = new PushShedder({
    clock: time,
    logger,
    requests: { pushShed: () => void (counted.shed += 1) },
  })
  const rejector = new RequestRejector(new StallDetector(time))
  const push = (team = 'a', headers: IncomingMessage['headers'] = {}) => {
    const response = new FakeResponse()
    const exchange = {
      request: Object.assign(new EventEmitter(), { headers, httpVersion: '1.1' }) as IncomingMessage,
      response: response as unknown as ServerResponse,
    }
    return { isAdmitted: shedder.admit(exchange, team, rejector), response }
  }
  return {
    shedder,
    logged,
    counted,
    time,
    push,
    /** Pushes come in one turn of the event loop, which takes this long. */
    turn: async (pushes: number, ms: number, team = 'a') => {
      const made = Array.from({ length: pushes }, () => push(team))
      await time.sleep(ms)
      return made
    },
  }
}

test('long turns without end are an overload: one line at its begin, one at its end with how many were refused', async () => {
  const { turn, logged, counted, time, push } = open()
  const made = await turn(SHED_PLACES_MIN, LONG_MS)
  expect(logged).toEqual([])
  made.push(...(await turn(1, LONG_MS)))
  expect(logged).toEqual([BEGUN])
  for (let round = 0; round < 5; round += 1) await turn(100, LONG_MS)
  const refused = 500
  expect([counted.shed, logged.length]).toEqual([refused, 1])
  for (const { response } of made) response.emit('close')
  await time.advance(2_000)
  expect(logged).toEqual([BEGUN, ['Pushes are taken again', { refused }]])
  expect([time.timers, push().isAdmitted]).toEqual([0, true])
})

test('a list that is long is an overload as well, with short turns', async () => {
  const { turn, shedder, logged } = open()
  for (let window = 0; window < 3; window += 1) {
    await turn(1, 0)
    shedder.waitedInList(LONG_MS)
    await turn(1, 100)
    shedder.waitedInList(LONG_MS)
  }
  expect(logged).toEqual([BEGUN])
})

test('one long turn, and pauses without pushes, are none', async () => {
  const { turn, logged, time } = open()
  for (let round = 0; round < 5; round += 1) {
    for (const { response } of await turn(1_000, 3_000)) response.emit('close')
    await time.advance(500)
    expect([logged, time.timers]).toEqual([[], 0])
  }
})

test('a push counts until its response has closed, and a batch by its bytes', async () => {
  const { turn, push } = open()
  await turn(1, LONG_MS)
  await turn(1, LONG_MS)
  await turn(1, LONG_MS)
  const batch = push('b', { 'content-length': String(1024 * SHED_PLACES_MIN) })
  expect(batch.isAdmitted).toBe(true)
  expect(push('b').isAdmitted).toBe(false)
  batch.response.emit('close')
  expect(push('b').isAdmitted).toBe(true)
})

test('a refusal is a 503 with Retry-After; large bodies are discarded by ourselves', async () => {
  const { turn, push } = open()
  for (let round = 0; round < 3; round += 1) await turn(SHED_PLACES_MIN, LONG_MS)
  const error = 'More pushes arrive than the API can take, try again'
  const small = push().response
  const large = push('a', { 'content-length': '20000', 'content-type': 'application/json' }).response
  for (const { sent } of [small, large]) {
    expect(sent).toEqual([503, expect.arrayContaining(['Retry-After', '2']), JSON.stringify({ error })])
  }
  const length = (small.sent[1] as string[])[3]
  expect(length).toBe(String(Buffer.byteLength(JSON.stringify({ error }))))
  expect([small.listenerCount('close'), large.listenerCount('close')]).toEqual([0, 0])
})
