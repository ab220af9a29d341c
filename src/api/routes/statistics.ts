import type { Router } from 'express'
import { readStatisticsQuery } from '../../contract/requests/statistics-query.ts'
import { writeStatistics } from '../../contract/responses/lists/statistics-wire.ts'
import type { Tally } from '../../domain/statistics/tally.ts'
import type { Clock } from '../../ports/runtime.ts'
import type { StatisticsReader } from '../../ports/queues.ts'
import { answerFresh, answerNotFound, answerProblem } from '../answers.ts'
import { workInTurns } from '../bounds/costly-work.ts'
import { createTeamRouter, needs, needsInQueues, type TeamRequest, withId } from '../team-routes.ts'

export interface StatisticsRouteParts {
  readonly statistics: StatisticsReader
  readonly clock: Pick<Clock, 'wallMs'>
}

export function createStatisticsRoutes({ statistics, clock }: StatisticsRouteParts): Router {
  const answer = async (
    context: TeamRequest,
    read: (sinceMs: number) => Promise<ReadonlyMap<number, Tally> | null>,
  ): Promise<void> => {
    const { search, response } = context
    const query = readStatisticsQuery(search, clock.wallMs())
    if (query.kind === 'invalid') return answerProblem(response, query.problem)
    const { range, before } = query.value
    const minutes = await read(before?.kept.sinceMs ?? range.sinceMs)
    if (minutes === null) return answerNotFound(response)
    const text = await workInTurns(context, writeStatistics(query.value, minutes))
    if (text !== null) answerFresh(context, text)
  }
  return createTeamRouter({
    '/api/stats': {
      GET: needs('read', (context) => answer(context, (sinceMs) => statistics.ofTeam(context.team, sinceMs))),
    },
    '/api/queues/:queue_id/stats': {
      GET: needsInQueues('read', (context) =>
        answer(context, (sinceMs) =>
          withId(context, 'queue_id', (id) => statistics.ofQueue(context.team, id, sinceMs)),
        ),
      ),
    },
  })
}
