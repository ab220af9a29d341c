import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import type { Role } from '../harness/roles.ts'
import { bearer } from '../harness/stand.ts'
import type { SamePushPlan, SamePushReport } from './same-push-plan.ts'

const PROCESS = join(import.meta.dirname, 'same-push-process.ts')

/** Makes one push again and again from a process of its own, which ends with a report. */
export async function pushSame(
  api: Role,
  plan: Pick<SamePushPlan, 'perSecond' | 'connections' | 'seconds' | 'body'>,
): Promise<SamePushReport> {
  const token = (bearer()['authorization'] ?? '').slice('Bearer '.length)
  const whole: SamePushPlan = { ...plan, port: Number(new URL(api.url).port), token }
  const { stdout } = await promisify(execFile)(process.execPath, [PROCESS, JSON.stringify(whole)])
  return JSON.parse(stdout) as SamePushReport
}

/** The body of a push whose job is not due while a benchmark runs. */
export function delayedPush(queue: string): string {
  return JSON.stringify({ queue, url: 'https://example.com/', payload: { order: 7 }, delay: 3_600 })
}
