import type { RequestListener } from 'node:http'
import type { RequestBody } from '../../contract/fields/json-body.ts'
import { readPush } from '../../contract/requests/pushes/push-request.ts'
import { mayUseQueue } from '../../domain/access/principal.ts'
import { deepened, traced } from '../../domain/jobs/job-copy.ts'
import { REQUEST_BODY_BYTES_MAX } from '../../domain/limits.ts'
import type { TeamQuotas } from '../../domain/quotas.ts'
import type { EgressPolicy } from '../../ports/http-caller.ts'
import type { JobIntake } from '../../ports/jobs.ts'
import type { Clock } from '../../ports/runtime.ts'
import type { TeamSettingsSource } from '../../ports/settings.ts'
import { answerError, answerOtherQueues, answerProblem } from '../answers.ts'
import { headerText } from '../body-reader.ts'
import { readableBody } from '../bounds/costly-work.ts'
import { callDepthOf } from '../pushes/call-depth.ts'
import { createHotRoute, type HotRouteParts, type PushExchange } from '../pushes/hot-route.ts'
import { answerPush } from '../pushes/push-answers.ts'
import { beginSend, endSend } from '../pushes/push-trace.ts'

export interface PushRouteParts extends HotRouteParts {
  readonly intake: JobIntake
  readonly egress: EgressPolicy
  readonly teamSettings: TeamSettingsSource
  quotasOf(team: string): TeamQuotas
  readonly clock: Clock
}

/** `POST /api/jobs`, the hot route: after what every hot route refuses come 400 and 422. */
export function createPushRoute(parts: PushRouteParts): RequestListener {
  const { intake, egress, teamSettings, clock } = parts
  const push = (body: RequestBody, { team, principal, request, response, trace }: PushExchange) => {
    const settings = teamSettings.of(team)
    const read = readPush(body, {
      idempotencyKey: headerText(request.headers['idempotency-key']),
      nowMs: clock.wallMs(),
      isBlocked: (url) => egress.refusalOf(url, settings) !== null,
      headerSecrets: settings.headerSecrets,
    })
    if (read.kind === 'valid') {
      if (!mayUseQueue(principal, read.value.queue)) {
        answerOtherQueues(response)
        return undefined
      }
      const send = beginSend(trace, read.value.queue)
      const made = traced(deepened(read.value.request, callDepthOf(request)), send.context)
      return intake.push({ ...read.value, request: made, team }).then((result) => {
        endSend(send, result)
        answerPush(response, result, { quotas: parts.quotasOf(team), nowMs: clock.wallMs() })
      })
    }
    if (read.kind === 'malformed') answerError(response, 400, read.error)
    else answerProblem(response, read.problem)
    return undefined
  }
  return createHotRoute(parts, REQUEST_BODY_BYTES_MAX, (bytes, exchange) => {
    const body = readableBody(exchange, bytes)
    if (!(body instanceof Promise)) return push(body, exchange)
    return body.then((scanned) => (scanned === null ? undefined : push(scanned, exchange)))
  })
}
