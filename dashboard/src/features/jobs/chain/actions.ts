import type { Job, Me } from '../../../../../clients/typescript/src/client.ts'
import { openOf } from './timeline/plan.ts'

export type ActionName = 'fire' | 'retry' | 'replay' | 'edit' | 'duplicate' | 'cancel' | 'delete' | 'purge'

export interface Action {
  readonly name: ActionName
  /** Why it cannot be done now; null = it can. */
  readonly refusal: string | null
}

type Told = Pick<Job, 'final_status' | 'replayed_as' | 'chain' | 'failure_reason'>

/** What can be done to a chain, first what it needs most; and of the rest why it cannot. The server has the last word. */
export function actionsOf(job: Told, may: Me['may'], nowMs: number): readonly Action[] {
  if (!may.operate) return []
  const original = job.chain[0]
  const open = openOf(job)
  const pushing = may.push ? null : 'It needs the permission to push, which you do not have.'
  const purging = may.purge ? null : 'It needs the permission to purge, which you do not have.'
  if (open !== undefined) {
    const inFlight = open.status === 'processing' ? 'The job is in flight.' : null
    const due = Date.parse(open.scheduled_at) > nowMs ? null : 'It is already due and waits for its turn.'
    return [
      { name: 'fire', refusal: inFlight ?? due },
      { name: 'duplicate', refusal: pushing },
      { name: 'cancel', refusal: inFlight },
    ]
  }
  const isDead = original?.final_status === 'dead_lettered'
  const isFailed = original?.final_status !== 'success'
  const damaged = original?.failure_reason === 'damaged' ? 'The record of the job is damaged.' : null
  const made = original?.replayed_as ?? null
  const again = made === null ? null : `It was done already, as job ${made}.`
  const copying = damaged ?? pushing
  if (isDead && made === null) {
    return [
      { name: 'replay', refusal: damaged },
      { name: 'edit', refusal: copying },
      { name: 'duplicate', refusal: copying },
      { name: 'purge', refusal: purging },
    ]
  }
  return [
    {
      name: isDead ? 'replay' : 'retry',
      refusal: isFailed ? (again ?? damaged) : 'The job has succeeded; it can be duplicated.',
    },
    { name: 'duplicate', refusal: copying },
    { name: 'delete', refusal: purging },
  ]
}
