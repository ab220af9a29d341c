/** What a push asks for: a call, at once or later. */
export interface Push {
  readonly queue: string
  readonly url: string
  readonly payload: unknown
  /** In seconds. */
  readonly delay?: number
  readonly run_at?: string
}

/** The only argument of a process, as the harness wrote it. */
export function readOptions(): unknown {
  return JSON.parse(process.argv[2] ?? '{}')
}

/** When the call is due; null = now. */
export function dueAt({ delay = 0, run_at: runAt }: Push): Date | null {
  if (runAt !== undefined) return new Date(runAt)
  return delay > 0 ? new Date(Date.now() + delay * 1000) : null
}
