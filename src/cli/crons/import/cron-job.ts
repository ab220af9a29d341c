/** The fields of a CronJob of `batch/v1` that an HttpCron has an answer to. The API server has checked them; a file may hold anything. */
export interface CronJob {
  readonly metadata: { readonly name: string; readonly namespace?: string }
  readonly spec: {
    readonly schedule: string
    readonly timeZone?: string | null
    readonly suspend?: boolean
    readonly concurrencyPolicy?: string
    readonly startingDeadlineSeconds?: number | null
    readonly jobTemplate: { readonly spec: JobSpec }
  }
}

interface JobSpec {
  readonly backoffLimit?: number
  readonly activeDeadlineSeconds?: number
  readonly template: {
    readonly spec: { readonly containers: readonly Container[]; readonly initContainers?: readonly unknown[] }
  }
}

export interface Container {
  readonly image?: string
  readonly command?: readonly string[]
  readonly args?: readonly string[]
  readonly env?: readonly Variable[]
}

interface Variable {
  readonly name: string
  readonly value?: string
  readonly valueFrom?: {
    readonly secretKeyRef?: { readonly name: string; readonly key: string }
  }
}
