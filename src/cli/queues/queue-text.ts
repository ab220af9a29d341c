import type { EditedQueue, Queue, QueueList } from '../../../clients/typescript/src/client.ts'
import { managedLines } from '../output/managed-lines.ts'
import { itemView, listView } from '../output/view.ts'

/** One line per queue. */
export const QUEUE_LIST = listView<QueueList, Queue>({
  kind: 'queue',
  items: (list) => list.queues,
  id: (queue) => queue.queue_id,
  columns: [
    { head: 'QUEUE', cell: (queue) => String(queue.queue_id) },
    { head: 'NAME', cell: (queue) => queue.name },
    { head: 'STATE', cell: stateText },
    { head: 'READY', cell: ({ counts }) => String(counts.pending) },
    { head: 'DELAYED', cell: ({ counts }) => String(counts.delayed) },
    { head: 'IN FLIGHT', cell: ({ counts }) => String(counts.processing) },
    { head: 'DEAD', cell: ({ counts }) => String(counts.dead) },
    { head: 'PARALLELISM', cell: (queue) => String(queue.max_parallelism ?? '-'), isWide: true },
    { head: 'TIMEOUT', cell: (queue) => `${queue.timeout_seconds} s`, isWide: true },
    { head: 'RETRIES', cell: retryText, isWide: true },
  ],
})

export const QUEUE_PAGE = itemView<Queue>({ kind: 'queue', id: (queue) => queue.queue_id, lines: queueLines })

/** A queue with its version, which `queues edit --if-match` takes. */
export const READ_QUEUE = itemView<Queue & { readonly version: string | null }>({
  kind: 'queue',
  id: (queue) => queue.queue_id,
  lines: (queue, isWide) => [...queueLines(queue), ...(isWide ? [`version ${queue.version ?? '-'}`] : [])],
})

export const EDITED_QUEUE = itemView<EditedQueue>({
  kind: 'queue',
  id: (queue) => queue.queue_id,
  lines: (queue) => [...queueLines(queue), ...queue.warnings],
})

function queueLines(queue: Queue): readonly string[] {
  const { counts } = queue
  return [
    `queue ${queue.queue_id}  ${queue.name}  (${stateText(queue)})`,
    `${counts.pending} ready, ${counts.delayed} delayed, ${counts.processing} in flight, ${counts.dead} dead letters`,
    `${queue.max_parallelism === null ? 'any number' : `at most ${queue.max_parallelism}`} at a time${queue.strict_parallelism ? ', strictly' : ''}`,
    `timeout ${queue.timeout_seconds} s, ${retryText(queue)}`,
    `dead letters kept ${queue.dlq_retention_days} days, alerts ${queue.alerts_enabled ? 'on' : 'off'}`,
    ...queue.success_assertions.map(({ type, value }) => `succeeds if ${type} ${value}`),
    ...managedLines(queue.managed_by),
  ]
}

function stateText({ is_active: isActive, is_draining: isDraining }: Queue): string {
  return `${isActive ? 'active' : 'paused'}${isDraining ? ', draining' : ''}`
}

function retryText({ retries_enabled: isOn, retry_delays: delays }: Queue): string {
  return isOn ? `retries after ${delays.join(', ')} s` : 'no retries'
}
