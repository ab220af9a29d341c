import type { RequestListener } from 'node:http'
import type { Principal } from '../../domain/access/principal.ts'
import type { CostGate } from '../../domain/shares/cost-gate.ts'
import type { Logger } from '../../ports/runtime.ts'
import type { Tracing } from '../../ports/tracing/tracing.ts'
import { answerFault } from '../answers.ts'
import type { Authenticator } from '../authenticator.ts'
import { refuseLoop } from './call-depth.ts'
import { traceRequest, type PushTrace } from './push-trace.ts'
import type { BodyReader } from '../body-reader.ts'
import type { CostlyExchange } from '../bounds/costly-work.ts'
import type { PushShedder } from '../bounds/push-shedder.ts'
import type { Exchange, RequestRejector } from '../request-rejector.ts'

export interface HotRouteParts {
  readonly authenticator: Authenticator
  readonly bodies: BodyReader
  readonly rejector: RequestRejector
  readonly shedder: PushShedder
  /** The slow parts of a push go through this gate. */
  readonly gate: CostGate
  readonly tracing: Tracing
  readonly logger: Logger
}

export interface PushExchange extends CostlyExchange {
  readonly principal: Principal
  readonly trace: PushTrace
}

/**
 * A route of pushes on plain node:http. Requests are refused in this order: 401, 403, 503 when more pushes come than can be taken, 413, 415,
 * 429 or 503 when too many bytes arrive at once. What `handle` throws is answered as a fault.
 */
export function createHotRoute(
  { authenticator, bodies, rejector, shedder, gate, tracing, logger }: HotRouteParts,
  bodyBytesMax: number,
  handle: (body: Buffer, exchange: PushExchange) => Promise<void> | undefined,
): RequestListener {
  const start = (principal: Principal | null, { request, response }: Exchange): void => {
    if (principal === null) return
    if (!shedder.admit({ request, response }, principal.team, rejector)) return
    if (refuseLoop(request, response)) return
    const { team } = principal
    const trace = traceRequest(tracing, { request, response, team }, request.url ?? '')
    const exchange = { team, principal, request, response, gate, trace }
    bodies.read(
      exchange,
      (body) => {
        try {
          return handle(body, exchange)?.catch((fault: unknown) =>
            answerFault(request, response, fault, logger),
          )
        } catch (fault) {
          answerFault(request, response, fault, logger)
          return undefined
        }
      },
      bodyBytesMax,
    )
  }
  return (request, response) => {
    const exchange = { request, response }
    const found = authenticator.principalWith('push', exchange)
    if (!(found instanceof Promise)) return start(found, exchange)
    found
      .then((principal) => start(principal, exchange))
      .catch((fault: unknown) => answerFault(request, response, fault, logger))
  }
}
