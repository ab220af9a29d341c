import type { SeededRandom } from '../../simulation/story/seeded-random.ts'
import type { Answer, Target } from '../../support/targets/target.ts'

/** What a push of each kind asks for, what its target answers, and so how its chain has to end. */
export type PushKind = 'plain' | 'limited' | 'paced' | 'delayed' | 'retried' | 'dead'

export interface PushDraw {
  /** Counts the pushes of an installation from 0; the header {@link PUSH_HEADER} of each call carries it. */
  readonly n: number
  readonly kind: PushKind
  readonly queue: string
  readonly delaySeconds: number
  readonly isCalledBack: boolean
  /** Sent with an Idempotency-Key, and again under it until it is accepted. */
  readonly isRepeated: boolean
}

export const PUSH_HEADER = 'x-push'
export const CALLBACK_PATH = '/callbacks'
export const LIMITED_QUEUE = 'limited'
export const LIMIT = 4
/** Its jobs come about as fast as they may begin, so that some wait whenever a fault has delayed them. */
export const PACED_QUEUE = 'paced'
export const PACE = { limit: 6, period_seconds: 1 }
/** Of those that fail always; it raises alerts. */
export const ALARMED_QUEUE = 'alarmed'
export const RETRY_DELAY_S = 1
const QUEUES = 6
/** Calls take a moment, so that a fault finds some open. */
const ANSWER_MS: Readonly<Record<PushKind, number>> = {
  plain: 40,
  limited: 100,
  paced: 5,
  delayed: 5,
  retried: 5,
  dead: 5,
}

/** Attempts of a chain, and how it ends. */
export const EXPECTED_ENDS: Readonly<Record<PushKind, { readonly attempts: number; readonly end: string }>> =
  {
    plain: { attempts: 1, end: 'success' },
    limited: { attempts: 1, end: 'success' },
    paced: { attempts: 1, end: 'success' },
    delayed: { attempts: 1, end: 'success' },
    retried: { attempts: 2, end: 'success' },
    dead: { attempts: 2, end: 'dead_lettered' },
  }

/** By the attempt and not by the count, so that a doubled call is answered alike. */
const STATUSES: Readonly<Record<PushKind, (attempt: number | null) => number>> = {
  plain: () => 200,
  limited: () => 200,
  paced: () => 200,
  delayed: () => 200,
  retried: (attempt) => (attempt === 1 ? 500 : 200),
  dead: () => 500,
}

export function answerAsDrawn(target: Target): void {
  for (const kind of Object.keys(STATUSES) as PushKind[]) {
    target.route(`/${kind}`, ({ attempt }) => answerLater(STATUSES[kind](attempt), ANSWER_MS[kind]))
  }
}

function answerLater(status: number, ms: number): Promise<Answer> {
  return new Promise((resolve) => setTimeout(() => resolve({ status }), ms))
}

export function drawPush(random: SeededRandom, n: number): PushDraw {
  const share = random.next()
  const kind =
    share < 0.55
      ? 'plain'
      : share < 0.6
        ? 'paced'
        : share < 0.7
          ? 'limited'
          : share < 0.85
            ? 'delayed'
            : share < 0.95
              ? 'retried'
              : 'dead'
  return {
    n,
    kind,
    queue: queueOf(kind, `load-${random.integer(1, QUEUES)}`),
    delaySeconds: kind === 'delayed' ? random.integer(1, 2) : 0,
    isCalledBack: random.chance(0.3),
    isRepeated: random.chance(0.3),
  }
}

function queueOf(kind: PushKind, other: string): string {
  if (kind === 'limited') return LIMITED_QUEUE
  if (kind === 'paced') return PACED_QUEUE
  return kind === 'dead' ? ALARMED_QUEUE : other
}

/** The body of `POST /api/jobs`. */
export function bodyOf(draw: PushDraw, targetUrl: string): string {
  return JSON.stringify({
    queue: draw.queue,
    url: `${targetUrl}/${draw.kind}`,
    headers: { [PUSH_HEADER]: String(draw.n) },
    payload: { n: draw.n },
    delay: draw.delaySeconds,
    retry_delays: [RETRY_DELAY_S],
    ...(draw.isCalledBack ? { callback_url: `${targetUrl}${CALLBACK_PATH}` } : {}),
  })
}
