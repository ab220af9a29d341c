import type { Issue } from '../../../../src/domain/issues/issue.ts'
import type { JobSource } from '../../../../src/ports/jobs.ts'
import { createIssueStore } from '../../../../src/redis/ledger/issues/issue-store.ts'
import { claimed, ended, pushAll } from '../../../support/engine/model-executor.ts'
import type { World } from '../../../support/engine/model-world.ts'

export const ALL = { states: null, queue: null } as const

export interface Ends {
  readonly queue?: string
  readonly host?: string
  readonly failed?: boolean
  readonly count?: number
  /** Whether a failure leaves a dead letter. */
  readonly isLast?: boolean
}

/** Pushes jobs, claims them and ends them all in one batch of `finish`. Answers their ids. */
export async function endJobs(world: World, source: JobSource, ends: readonly Ends[]): Promise<number[]> {
  const intake = world.newIntake()
  const byUrl = new Map<string, Ends>()
  const ids: number[] = []
  for (const one of ends) {
    const url = `https://${one.host ?? 'a.example.com'}/${byUrl.size}`
    byUrl.set(url, one)
    ids.push(...(await pushAll(intake, one.count ?? 1, { queue: one.queue ?? 'emails', request: { url } })))
  }
  const work = await claimed(source, ids.length)
  const finished = work.map((job) => {
    if (job.kind !== 'job') throw new Error('a job is expected')
    const { failed = true, isLast = false } = byUrl.get(job.request.url) ?? {}
    const settings = isLast ? { ...job.settings, retryDelays: [] } : job.settings
    return ended(world, { ...job, settings }, { failed })
  })
  await source.finish(finished)
  return ids
}

export async function issuesOf(world: World, team = 'default'): Promise<readonly Issue[]> {
  const page = await createIssueStore(world.engine).list({ team, filter: ALL, limit: 1_000, cursor: null })
  if (page === 'bad_cursor') throw new Error('no cursor was given')
  return page.issues
}

/** What an issue says, in a line. */
export function told({ resource, responseStatus, host, state, hours }: Issue): string {
  const counts = hours.map(({ failed, deadLettered }) => `${failed}/${deadLettered}`).join(' ')
  return `${resource.kind} ${resource.name}: ${responseStatus} from ${host} ${state} ${counts}`
}
