import type { CronJob } from './cron-job.ts'
import { httpCronOf, queueOf } from './http-cron.ts'
import { NotTaken } from './not-taken.ts'

/** A document of the YAML that is written. */
export interface Document {
  /** Lines in front of it. */
  readonly comments: readonly string[]
  /** null = there are comments alone. */
  readonly resource: unknown
}

interface Imports {
  readonly documents: readonly Document[]
  /** Names of the CronJobs that stay. */
  readonly left: readonly string[]
}

/** The queues first, since crons name them. */
export function imported(jobs: readonly CronJob[]): Imports {
  const crons: Document[] = []
  const queues = new Map<string, unknown>()
  const left: string[] = []
  for (const job of jobs) {
    const name = nameOf(job)
    try {
      const { cron, retries, notes } = httpCronOf(job)
      crons.push({
        comments: [`From the CronJob ${name}.`, ...notes.map((note) => `- ${note}`)],
        resource: cron,
      })
      const namespace = job.metadata.namespace
      if (retries > 0) queues.set(`${namespace}/${retries}`, queueOf(retries, namespace))
    } catch (fault) {
      left.push(name)
      crons.push({ comments: [`The CronJob ${name} stays: ${reasonOf(fault)}.`], resource: null })
    }
  }
  const first = [...queues.values()].map((resource) => ({ comments: [], resource }))
  return { documents: [...first, ...crons], left }
}

function nameOf(job: CronJob): string {
  const { name, namespace } = (job as { readonly metadata?: Partial<CronJob['metadata']> }).metadata ?? {}
  return namespace === undefined ? String(name) : `${namespace}/${name}`
}

/** A file may hold a CronJob that no API server has checked, and one of them keeps none of the others from being read. */
function reasonOf(fault: unknown): string {
  if (fault instanceof NotTaken) return fault.message
  return `it is not as the API server would take it (${fault instanceof Error ? fault.message : String(fault)})`
}
