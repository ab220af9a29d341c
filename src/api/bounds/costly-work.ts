import type { ServerResponse } from 'node:http'
import { type RequestBody, scanBody } from '../../contract/fields/json-body.ts'
import {
  COSTLY_PER_TEAM_MAX,
  type CostGate,
  type SlicedWork,
  type Visit,
} from '../../domain/shares/cost-gate.ts'
import { answerRetryLater } from '../answers.ts'
import type { TeamExchange } from '../body-reader.ts'

/** A body of at most this size takes less than a slice to read, whatever it holds. */
const SMALL_BODY_BYTES = 16 * 1024

const TOO_MANY_COSTLY = `At most ${COSTLY_PER_TEAM_MAX} searches, previews and other costly requests of a team run at once, try again`

/** A request, and the gate that its costly parts go through. */
export interface CostlyExchange extends TeamExchange {
  readonly gate: CostGate
}

/**
 * Does work that may take more than 2 ms of the processor, in turns with other costly requests. null = the request is over: too many
 * of its team are under way, which has been answered, or the client has gone.
 */
export async function workInTurns<T>(
  { team, response, gate }: CostlyExchange,
  work: SlicedWork<T>,
): Promise<T | null> {
  const visit = gate.enter(team)
  if (visit !== null) return whileWanted(response, visit, (own) => own.run(work))
  answerTooCostly(response)
  return null
}

/** Does work like `workInTurns`, but work that waits for Redis and reads its answers bit by bit. */
export async function stepInTurn<T>(
  { team, response, gate }: CostlyExchange,
  step: () => Promise<T>,
): Promise<T | null> {
  const visit = gate.enter(team)
  if (visit !== null) return whileWanted(response, visit, (own) => own.step(step))
  answerTooCostly(response)
  return null
}

/** Does work on a body, like `workInTurns`. The bytes of all bodies are bounded, so nobody is refused here. */
export function bodyInTurns<T>(
  { team, response, gate }: CostlyExchange,
  work: SlicedWork<T>,
): Promise<T | null> {
  return whileWanted(response, gate.admit(team), (visit) => visit.run(work))
}

/** Does work like `bodyInTurns`, but goes on when the client has gone. */
export async function inTurnsToTheEnd<T>(
  { team, gate }: Pick<CostlyExchange, 'team' | 'gate'>,
  work: SlicedWork<T>,
): Promise<T> {
  const end = await gate.admit(team).run(work)
  if (end === null) throw new Error('a visit that nobody ends has ended')
  return end
}

/** Finds the fields of a large body in turns; null = the client has gone. A small one is left as it is. */
export function readableBody(
  exchange: CostlyExchange,
  body: Buffer,
): RequestBody | Promise<RequestBody | null> {
  return body.length <= SMALL_BODY_BYTES ? body : bodyInTurns(exchange, scanBody(body))
}

/** Answers a request that was refused at the gate elsewhere. */
export function answerTooCostly(response: ServerResponse): void {
  answerRetryLater(response, 429, TOO_MANY_COSTLY)
}

/** Runs `work` with a signal that tells when the client has gone. */
export async function untilGone<T>(
  response: ServerResponse,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const controller = new AbortController()
  const abort = (): void => controller.abort()
  response.once('close', abort)
  if (response.destroyed) abort()
  try {
    return await work(controller.signal)
  } finally {
    response.off('close', abort)
  }
}

async function whileWanted<T>(
  response: ServerResponse,
  visit: Visit,
  work: (visit: Visit) => Promise<T | null>,
): Promise<T | null> {
  const leave = (): void => visit.leave()
  response.once('close', leave)
  if (response.destroyed) leave()
  try {
    return await work(visit)
  } finally {
    response.off('close', leave)
    visit.leave()
  }
}
