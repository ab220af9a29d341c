import type { Router } from 'express'
import { readTestClockMove } from '../../contract/requests/test-clock-request.ts'
import { toWireTestTime } from '../../contract/responses/test-time-wire.ts'
import type { RequestBody } from '../../contract/fields/json-body.ts'
import type { Logger, TestClock } from '../../ports/runtime.ts'
import { answerJson, answerNotFound } from '../answers.ts'
import type { BodyReader } from '../body-reader.ts'
import { acceptedBody, createTeamRouter, needs, type TeamRequest, withBody } from '../team-routes.ts'

export interface TestClockRouteParts {
  /** null = this installation goes by the clock of Redis, and the paths are not there. */
  readonly testClock: TestClock | null
  readonly bodies: BodyReader
  readonly logger: Logger
}

export function createTestClockRoutes(parts: TestClockRouteParts): Router {
  const { testClock } = parts
  return createTeamRouter({
    '/api/test/clock': {
      GET: needs('admin', async ({ response }) => {
        if (testClock === null) return answerNotFound(response)
        answerJson(response, 200, JSON.stringify(toWireTestTime(await testClock.read())))
      }),
      POST: needs('admin', (context) => {
        if (testClock === null) return answerNotFound(context.response)
        withBody(context, parts, (body) => advance(context, testClock, { body, logger: parts.logger }))
      }),
    },
  })
}

async function advance(
  context: TeamRequest,
  testClock: TestClock,
  { body, logger }: { readonly body: RequestBody; readonly logger: Logger },
): Promise<void> {
  const { nowMs } = await testClock.read()
  const move = acceptedBody(context, readTestClockMove(body, nowMs))
  if (move === null) return
  const time = 'toMs' in move ? await testClock.advanceTo(move.toMs) : await testClock.advanceBy(move.byMs)
  const { now, ahead_seconds: aheadSeconds } = toWireTestTime(time)
  logger.info('The test clock was moved', { now, aheadSeconds })
  answerJson(context.response, 200, JSON.stringify({ now, ahead_seconds: aheadSeconds }))
}
