import { useLocation } from 'preact-iso'
import type { CronSummary, PunctualClient, Queue } from '../../../../clients/typescript/src/client.ts'
import { type Change, useChange } from '../../editing/changes.ts'
import { useMay } from '../../session/me.ts'
import { useRead } from '../../api/reads.ts'
import type { Choice } from '../../ui/overlays/picker.tsx'
import { showToast } from '../../ui/overlays/toast.tsx'
import { at } from '../../routing/paths.ts'
import type { Thing } from './thing.ts'
import { useThingDeeds } from './thing-deeds.ts'

/** At most this many queues and as many crons are named; the palette says when there are more. */
export const NAMED_MAX = 1_000

export interface ResourceCommands {
  readonly choices: readonly Choice[]
  /** What can be done with the thing whose page is open. */
  readonly here: readonly Choice[]
  /** There are more than are named. */
  readonly isPart: boolean
}

/** The pages of queues and crons, and what starts and stops them. */
export function useResourceCommands(): ResourceCommands {
  const { path, route } = useLocation()
  const once = { isLive: false, isWanted: useMay('read') }
  const queues = useRead('listQueues', { limit: NAMED_MAX }, once)
  const crons = useRead('listCrons', { limit: NAMED_MAX }, once)
  const change = useSwitch()
  const mayOperate = useMay('operate')
  const things = [
    ...(queues.data?.queues ?? []).map(thingOfQueue),
    ...(crons.data?.crons ?? []).map(thingOfCron),
  ]
  const deeds = useThingDeeds()
  const verbs = things.flatMap((thing) =>
    [...(mayOperate ? [switchOf(thing, change)] : []), ...deeds(thing)].map((choice) => ({ thing, choice })),
  )
  return {
    choices: [
      ...things.map(({ kind, name, page }): Choice => {
        return {
          key: page,
          label: name,
          note: kind === 'queue' ? 'Queue' : 'Cron',
          icon: kind,
          run: () => route(at(page)),
        }
      }),
      ...verbs.map(({ choice }) => choice),
    ],
    here: verbs.filter(({ thing }) => at(thing.page) === path).map(({ choice }) => choice),
    isPart: [queues.data?.next_cursor, crons.data?.next_cursor].some((cursor) => typeof cursor === 'string'),
  }
}

function thingOfQueue({ queue_id: id, name, is_active: isActive, is_draining: isDraining }: Queue): Thing {
  return { kind: 'queue', id, name, page: `/queues/${id}`, isRunning: isActive && !isDraining }
}

function thingOfCron({ id, name, is_active: isRunning }: CronSummary): Thing {
  return { kind: 'cron', id, name, page: `/crons/${id}`, isRunning }
}

type Switch = (thing: Thing) => void

function switchOf(thing: Thing, change: Switch): Choice {
  const verb = thing.isRunning ? 'Pause' : 'Resume'
  return {
    key: `switch ${thing.page}`,
    label: `${verb} ${thing.kind} ${thing.name}`,
    icon: thing.isRunning ? 'pause' : 'play',
    run: () => change(thing),
  }
}

/** Pauses what runs and resumes what does not; what was done can be undone where it is said. */
function useSwitch(): Switch {
  const change: Change<Thing, void> = useChange(turn, {
    onDone: (_answer, thing) => {
      const { kind, name, isRunning } = thing
      const undo = { label: 'Undo', run: () => change.mutate({ ...thing, isRunning: !isRunning }) }
      const text = `${kind === 'queue' ? 'Queue' : 'Cron'} ${name} ${isRunning ? 'paused' : 'resumed'}`
      showToast({ tone: 'good', text, action: undo })
    },
  })
  return change.mutate
}

async function turn(api: PunctualClient, { kind, id, isRunning }: Thing): Promise<void> {
  if (kind === 'queue') {
    await (isRunning ? api.pauseQueue({ queue_id: id }) : api.resumeQueue({ queue_id: id }))
  } else {
    await (isRunning ? api.pauseCron({ cron_id: id }) : api.resumeCron({ cron_id: id }))
  }
}
