/**
 * What to push. In path and body, `{index}` becomes the push's number, `{queue}` its number modulo `queues`, `{due}`
 * its due time in Unix ms and `{due_iso}` the same as text.
 */
export interface PushPlan {
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
  readonly count: number
  readonly queues: number
  readonly connections: number
  /** Null = as fast as it goes. */
  readonly perSecond: number | null
  readonly dueInMs: number
}

/** What became of a plan. */
export interface PushReport {
  readonly accepted: number
  /** Of these, answered after their due time. */
  readonly acceptedLate: number
  readonly refused: number
}

/** The path and body of one push. */
export function fillIn(plan: PushPlan, index: number, nowMs: number): { path: string; body: string } {
  const { pathname, search } = new URL(plan.url)
  const dueMs = nowMs + plan.dueInMs
  const fill = (text: string): string =>
    text.includes('{') && MARK.test(text) ? text.replace(MARKS, (_, mark: string) => valueOf(mark)) : text
  const valueOf = (mark: string): string => {
    if (mark === 'index') return String(index)
    if (mark === 'queue') return String(index % plan.queues)
    return mark === 'due' ? String(dueMs) : new Date(dueMs).toISOString()
  }
  return { path: fill(decodeURI(pathname + search)), body: fill(plan.body) }
}

const MARK = /\{(?:index|queue|due|due_iso)\}/
const MARKS = /\{(index|queue|due|due_iso)\}/g
