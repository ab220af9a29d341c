import type { RequestHandler, Response } from 'express'
import type { Principal } from '../../domain/access/principal.ts'
import { FairTurns, NoTurnError } from '../../domain/shares/fair-turns.ts'
import type { Clock } from '../../ports/runtime.ts'
import { answerRetryLater } from '../answers.ts'

/** A change waits for the Kubernetes API, and then for its being applied: a client has more patience than that. */
const CHANGES = { atOnce: 32, waiting: 256, waitMs: 10_000 }
const READS: ReadonlySet<string> = new Set(['GET', 'HEAD'])
const TOO_MANY = 'Too many changes are under way, try again'

/**
 * Lets the teams take turns with their changes, since each holds a connection to the Kubernetes API, or polls Redis, for
 * seconds while the cluster is slow. For whoever has been authenticated; pushes do not come by here.
 */
export function createChangeTurns(clock: Clock): RequestHandler {
  const turns = new FairTurns(clock, CHANGES)
  return (request, response, next) => {
    if (READS.has(request.method)) return next()
    const { team } = response.locals['principal'] as Principal
    const onFault = (fault: unknown): void => {
      if (fault instanceof NoTurnError) answerRetryLater(response, 429, TOO_MANY)
      else next(fault)
    }
    turns.run(team, () => untilAnswered(response, next)).catch(onFault)
  }
}

function untilAnswered(response: Response, next: () => void): Promise<void> {
  if (response.destroyed) return Promise.resolve()
  return new Promise((resolve) => {
    response.once('close', () => resolve())
    next()
  })
}
