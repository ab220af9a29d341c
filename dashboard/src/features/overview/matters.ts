import type { Queue, Team } from '../../../../clients/typescript/src/client.ts'
import { plural } from '../../format/numbers.ts'

/** At most this many queues of a kind are named; the others are counted. */
const NAMED_MAX = 5

export interface Matter {
  readonly icon: 'alert' | 'bell' | 'dead' | 'down' | 'pause'
  readonly tone: 'bad' | 'warn' | 'busy'
  readonly text: string
  /** A screen, and its filters. */
  readonly path: string
  readonly query?: Readonly<Record<string, string>>
}

export interface Looked {
  readonly queues: readonly Queue[]
  readonly channels: Team['notifications']
  /** Unread alerts of failures. */
  readonly failures: number
}

/** What somebody should look at now, the worst first; of each kind the largest. */
export function mattersOf({ queues, channels, failures }: Looked): readonly Matter[] {
  const paused = queues.filter(({ is_active: isActive }) => !isActive)
  const open = queues.filter(({ throttled }) => throttled?.reason === 'circuit_open')
  const draining = queues.filter((queue) => queue.is_active && queue.is_draining)
  const dead = queues.filter(({ counts }) => counts.dead > 0)
  const named = (
    some: readonly Queue[],
    sizeOf: (queue: Queue) => number,
    matterOf: MatterOf,
    rest: Rest,
  ) => {
    const sorted = some.toSorted((one, other) => sizeOf(other) - sizeOf(one))
    const more = sorted.length - NAMED_MAX
    const told = sorted.slice(0, NAMED_MAX).map(matterOf)
    return more > 0 ? [...told, { ...rest, text: `${plural(more, 'more queue')} ${rest.text}` }] : told
  }
  return [
    ...alertMatters(failures),
    ...channels.filter(({ state }) => state === 'failing').map(channelMatter),
    ...named(dead, ({ counts }) => counts.dead, deadMatter, DEAD),
    ...named(open, waiting, openMatter, OPEN),
    ...named(paused, waiting, pausedMatter, PAUSED),
    ...named(draining, waiting, drainingMatter, DRAINING),
  ]
}

type MatterOf = (queue: Queue) => Matter
/** Stands for the queues that are not named; their number comes before its text. */
type Rest = Matter

const DEAD: Rest = { icon: 'dead', tone: 'bad', text: 'with dead letters', path: '/dead-letters' }
const OPEN: Rest = {
  icon: 'alert',
  tone: 'bad',
  text: 'that have stopped calling their targets',
  path: '/queues',
}
const PAUSED: Rest = { icon: 'pause', tone: 'warn', text: 'paused', path: '/queues' }
const DRAINING: Rest = { icon: 'down', tone: 'busy', text: 'draining', path: '/queues' }

function alertMatters(failures: number): Matter[] {
  if (failures === 0) return []
  const text = plural(failures, 'unread failure alert')
  return [{ icon: 'alert', tone: 'bad', text, path: '/alerts', query: { type: 'failure', read: 'false' } }]
}

function channelMatter({ channel }: Team['notifications'][number]): Matter {
  return { icon: 'bell', tone: 'bad', text: `Messages to ${channel} fail`, path: '/notifications' }
}

function deadMatter({ name, counts }: Queue): Matter {
  return { ...DEAD, text: `${name} has ${plural(counts.dead, 'dead letter')}`, query: { queue: name } }
}

function openMatter(queue: Queue): Matter {
  const text = `${queue.name} has stopped calling its target; ${plural(waiting(queue), 'job waits', 'jobs wait')}`
  return { ...OPEN, text, path: `/queues/${queue.queue_id}` }
}

function pausedMatter(queue: Queue): Matter {
  const text = `${queue.name} is paused; ${plural(waiting(queue), 'job waits', 'jobs wait')}`
  return { ...PAUSED, text, path: `/queues/${queue.queue_id}` }
}

function drainingMatter(queue: Queue): Matter {
  const text = `${queue.name} drains; ${plural(waiting(queue), 'job is', 'jobs are')} left`
  return { ...DRAINING, text, path: `/queues/${queue.queue_id}` }
}

function waiting({ counts }: Queue): number {
  return counts.pending + counts.delayed
}
