import type {
  EditedQueue,
  Queue,
  QueueList,
  QueueRow,
  QueueState,
} from '../../../clients/typescript/src/client.ts'
import { rateText } from '../given-rate.ts'
import { managedLines } from '../output/managed-lines.ts'
import { factView, itemView, listView } from '../output/view.ts'

/** One line per queue; what failed is of the last hour. */
export const QUEUE_LIST = listView<QueueList, QueueRow>({
  kind: 'queue',
  items: (list) => list.queues,
  id: (queue) => queue.queue_id,
  columns: [
    { head: 'QUEUE', cell: (queue) => String(queue.queue_id) },
    { head: 'NAME', cell: (queue) => queue.name, isMain: true },
    { head: 'STATE', cell: stateText },
    { head: 'STARTABLE', cell: ({ startable }) => String(startable) },
    {
      head: 'STOPPED',
      cell: ({ stopped }) => (stopped === null ? '0' : `${stopped.jobs} ${stopped.reason}`),
    },
    { head: 'OLDEST', cell: ({ oldest_startable_seconds: age }) => (age === null ? '-' : `${age} s`) },
    { head: 'FAILED', cell: failedText },
    { head: 'DELAYED', cell: ({ counts }) => String(counts.delayed) },
    { head: 'IN FLIGHT', cell: ({ counts }) => String(counts.processing) },
    { head: 'DEAD', cell: ({ counts }) => String(counts.dead) },
    { head: 'PARALLELISM', cell: (queue) => String(queue.max_parallelism ?? '-'), isWide: true },
    { head: 'RATE', cell: ({ rate_limit: rate }) => (rate === null ? '-' : rateText(rate)), isWide: true },
    { head: 'TIMEOUT', cell: (queue) => `${queue.timeout_seconds} s`, isWide: true },
    { head: 'RETRIES', cell: retryText, isWide: true },
  ],
})

function failedText({ last_hour: { ended, failed } }: QueueRow): string {
  return ended === 0 ? '-' : `${Number(((failed / ended) * 100).toPrecision(2))} %`
}

export const QUEUE_PAGE = itemView<Queue>({ kind: 'queue', id: (queue) => queue.queue_id, lines: queueLines })

export const EDITED_QUEUE = itemView<EditedQueue>({
  kind: 'queue',
  id: (queue) => queue.queue_id,
  lines: (queue) => [...queueLines(queue), ...queue.warnings],
})

export const QUEUE_STATE = factView<QueueState>(stateLines)

function stateLines(state: QueueState): readonly string[] {
  const { startable, stopped, oldest_startable_seconds: age } = state
  const stops = [...stopLines('paused', state.paused), ...stopLines('draining', state.draining)]
  return [
    ...(stops.length === 0 ? ['nobody has stopped it'] : stops),
    `${startable} startable${age === null ? '' : `, the oldest due for ${age} s`}`,
    ...(stopped === null ? [] : [`${stopped.jobs} stopped: ${stopped.reason}`]),
  ]
}

function stopLines(word: string, stop: QueueState['paused']): readonly string[] {
  if (stop === null) return []
  const { at, by, via, reason } = stop
  if (at === null) return [`${word}; the audit log no longer says by whom`]
  return [`${word} since ${at} by ${by} (${via})${reason === null ? '' : `: ${reason}`}`]
}

function queueLines(queue: Queue): readonly string[] {
  const { counts } = queue
  return [
    `queue ${queue.queue_id}  ${queue.name}  (${stateText(queue)})`,
    `${counts.pending} ready, ${counts.delayed} delayed, ${counts.processing} in flight, ${counts.dead} dead letters`,
    `${queue.max_parallelism === null ? 'any number' : `at most ${queue.max_parallelism}`} at a time${queue.strict_parallelism ? ', strictly' : ''}`,
    ...throttleLines(queue),
    ...flowLines(queue),
    `timeout ${queue.timeout_seconds} s, ${retryText(queue)}`,
    `dead letters kept ${queue.dlq_retention_days} days, alerts ${queue.alerts_enabled ? 'on' : 'off'}`,
    ...(queue.record_responses === 'none' ? ['of responses only the status is kept'] : []),
    ...queue.success_assertions.map(({ type, value }) => `succeeds if ${type} ${value}`),
    ...managedLines(queue.managed_by),
  ]
}

function stateText({ is_active: isActive, is_draining: isDraining, throttled }: Queue): string {
  const state = isActive ? 'active' : 'paused'
  return `${state}${isDraining ? ', draining' : ''}${throttled === null ? '' : ', throttled'}`
}

const THROTTLES: Readonly<Record<NonNullable<Queue['throttled']>['reason'], string>> = {
  rate_limited: 'rate limited',
  target_asks_to_wait: 'its target asks to wait',
  circuit_open: 'its circuit breaker is open',
}

function throttleLines({ throttled }: Queue): readonly string[] {
  if (throttled === null) return []
  const { reason, until } = throttled
  // A later API may know more reasons.
  const cause = Object.hasOwn(THROTTLES, reason) ? THROTTLES[reason] : reason
  return [`throttled: ${cause}${until === null ? ', one job tries the target' : ` until ${until}`}`]
}

function flowLines(queue: Queue): readonly string[] {
  const { rate_limit: rate, respect_retry_after: isRespected, circuit_breaker: breaker } = queue
  return [
    ...(rate === null ? [] : [`at most ${rateText(rate)}`]),
    ...(isRespected ? ['waits for as long as its target asks by Retry-After'] : []),
    ...(breaker === null
      ? []
      : [
          `stops for ${breaker.open_seconds} s when ${breaker.failure_percent} % of at least ${breaker.min_calls} calls in ${breaker.window_seconds} s fail`,
        ]),
  ]
}

function retryText(queue: Queue): string {
  const { retry_delays: delays, retry_jitter_percent: jitter, no_retry_statuses: statuses } = queue
  if (!queue.retries_enabled) return 'no retries'
  const longer = jitter === 0 ? '' : `, up to ${jitter} % longer`
  return `retries after ${delays.join(', ')} s${longer}${statuses.length === 0 ? '' : `, but not after ${statuses.join(', ')}`}`
}
