import type { RequestHandler } from 'express'
import { mayUseQueue, type Principal } from '../../domain/access/principal.ts'
import type { JobIds } from '../../domain/jobs/job-ids.ts'
import type { AlertStore } from '../../ports/alerts.ts'
import type { CronStore } from '../../ports/crons.ts'
import type { IssueStore } from '../../ports/issues/issue-store.ts'
import type { JobStore } from '../../ports/jobs.ts'
import type { QueueStore } from '../../ports/queues.ts'
import type { WindowStore } from '../../ports/windows.ts'
import { answerNotFound } from '../answers.ts'

export interface QueueGuardParts {
  readonly queues: Pick<QueueStore, 'get'>
  readonly jobs: Pick<JobStore, 'get'>
  readonly jobIds: JobIds
  readonly crons: Pick<CronStore, 'get'>
  readonly alerts: Pick<AlertStore, 'get'>
  readonly issues: Pick<IssueStore, 'get'>
  readonly windows: Pick<WindowStore, 'get'>
}

/** The queue of what a path names; null = it is not of one queue; undefined = it does not exist. */
type QueueFinder = (team: string, id: string) => Promise<string | null | undefined>

/**
 * Keeps a principal that is limited to queues from what a path names behind `/api/<kind>/` if that belongs to another
 * queue, or to none: 404, as if it did not exist. Costs others nothing.
 */
export function createQueueGuard(parts: QueueGuardParts): RequestHandler {
  const finders = findersOf(parts)
  return async (request, response, next) => {
    const principal = response.locals['principal'] as Principal
    if (principal.queues === null) return next()
    const [, , kind = '', id = ''] = request.path.split('/')
    const find = Object.hasOwn(finders, kind) && id !== '' ? finders[kind] : undefined
    const queue = await find?.(principal.team, decodeURIComponent(id))
    if (queue === undefined || (queue !== null && mayUseQueue(principal, queue))) next()
    else answerNotFound(response)
  }
}

function findersOf({
  queues,
  jobs,
  jobIds,
  crons,
  alerts,
  issues,
  windows,
}: QueueGuardParts): Readonly<Record<string, QueueFinder>> {
  return {
    queues: byNumber(async (team, id) => (await queues.get(team, id))?.name),
    jobs: async (team, id) => {
      const jobId = jobIds.parse(id)
      return jobId === null ? undefined : (await jobs.get(team, jobId))?.queueName
    },
    crons: byNumber(async (team, id) => (await crons.get(team, id))?.settings.queue),
    alerts: byNumber(async (team, id) => queueOf((await alerts.get(team, id))?.resource)),
    issues: async (team, id) => queueOf((await issues.get(team, id))?.resource),
    'maintenance-windows': async (team, name) => queueOf((await windows.get(team, name))?.resource),
  }
}

/** Other words, such as `counts`, name no resource. */
function byNumber(find: (team: string, id: number) => Promise<string | null | undefined>): QueueFinder {
  return (team, id) => (/^[0-9]{1,16}$/.test(id) ? find(team, Number(id)) : Promise.resolve(undefined))
}

/** The name of the queue that an alert, an issue or a window is about. */
export function queueOf(
  resource: { readonly kind: string; readonly name: string | null } | null | undefined,
): string | null | undefined {
  if (resource === undefined || resource === null) return resource
  return resource.kind === 'queue' ? resource.name : null
}

/** Whether a principal may see an alert, an issue or a window about this; what is about a whole team needs all queues. */
export function maySeeResource(
  principal: Principal,
  resource: { readonly kind: string; readonly name: string | null } | null,
): boolean {
  const queue = queueOf(resource)
  return principal.queues === null || (typeof queue === 'string' && mayUseQueue(principal, queue))
}
