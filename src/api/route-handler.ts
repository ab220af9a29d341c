import type { RequestHandler } from 'express'
import { answerError } from './answers.ts'
import type { TeamExchange } from './request-body.ts'

/** What a route sees of a request whose token is known. */
export interface TeamRequest extends TeamExchange {
  /** Of the path; an absent one is empty. */
  readonly parameter: (name: string) => string
  /** The query string without `?`. */
  readonly search: string
}

/** A route as an express handler; what it throws goes to the error handler. */
export function forTeam(handle: (context: TeamRequest) => Promise<void> | void): RequestHandler {
  return async (request, response) => {
    const team: unknown = response.locals['team']
    // The authentication in front of every route has set it.
    if (typeof team !== 'string') throw new Error('a route was reached without authentication')
    const { originalUrl } = request
    const question = originalUrl.indexOf('?')
    await handle({
      team,
      parameter: (name) => {
        const value = request.params[name]
        return typeof value === 'string' ? value : ''
      },
      search: question === -1 ? '' : originalUrl.slice(question + 1),
      request,
      response,
    })
  }
}

/** An id in the path; null for what cannot be one. */
export function idOf({ parameter }: TeamRequest, name: string): number | null {
  const text = parameter(name)
  const id = /^(?:0|[1-9][0-9]{0,15})$/.test(text) ? Number(text) : Number.NaN
  return Number.isSafeInteger(id) ? id : null
}

/** The last handler of a path: it has other methods. */
export function methodNotAllowed(...methods: readonly string[]): RequestHandler {
  const allow = ['Allow', methods.join(', ')]
  return (_request, response) => answerError(response, 405, 'Method not allowed', allow)
}
