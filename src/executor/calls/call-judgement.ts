import { ERROR_MESSAGE_CHARACTERS_MAX } from '../../domain/limits.ts'
import { brokenAssertion, unknownAssertion } from '../../domain/jobs/assertion.ts'
import { excerpt } from '../../domain/excerpt.ts'
import type { FailureReason } from '../../domain/jobs/job.ts'
import type { ChainSettings } from '../../domain/jobs/queue-settings.ts'
import type { EndedCall } from '../../ports/http-caller.ts'

export interface Judgement {
  /** null = success. */
  readonly failureReason: FailureReason | null
  readonly errorMessage: string | null
  readonly responseStatus: number | null
}

/**
 * A call succeeds with a 2xx status and all assertions met. Redirects are not followed and count as failures. So does an
 * assertion of an unknown type: the call was made, as it is for every attempt, but nobody here can say that it succeeded.
 */
export function judgeCall(result: EndedCall, settings: ChainSettings): Judgement {
  if (result.kind === 'failed') {
    return failure(result.reason, result.message, null)
  }
  const { status } = result
  const reason = reasonOfStatus(status)
  if (reason !== null) return failure(reason, `The target answered ${status}.`, status)
  const { successAssertions } = settings
  if (successAssertions.length === 0)
    return { failureReason: null, errorMessage: null, responseStatus: status }
  const unknown = unknownAssertion(successAssertions)
  if (unknown !== null) return failure('unknown', unknown, status)
  const broken = brokenAssertion(successAssertions, result)
  if (broken !== null) return failure('assertion_failed', broken, status)
  return { failureReason: null, errorMessage: null, responseStatus: status }
}

function reasonOfStatus(status: number): FailureReason | null {
  if (status >= 200 && status < 300) return null
  if (status >= 300 && status < 400) return 'http_redirect'
  if (status >= 400 && status < 500) return 'http_client_error'
  if (status >= 500 && status < 600) return 'http_server_error'
  return 'unknown'
}

function failure(reason: FailureReason, message: string, status: number | null): Judgement {
  const errorMessage = excerpt(message, ERROR_MESSAGE_CHARACTERS_MAX)
  return { failureReason: reason, errorMessage, responseStatus: status }
}
