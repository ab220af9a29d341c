import type { CronRun, CronSummary } from '../../../../clients/typescript/src/client.ts'
import { Badge, StateBadge } from '../../ui/text/badge.tsx'
import type { TonedLabel } from '../../ui/tone.ts'

/** Whether it ticks, and how its runs have been, in one or two words. */
export function CronBadge({ cron }: { readonly cron: CronSummary }) {
  if (!cron.is_active) return <Badge tone="warn">Paused</Badge>
  if (isFailing(cron)) return <Badge tone="bad">Failing</Badge>
  return <Badge tone="good">Active</Badge>
}

export function isFailing({ consecutive_failures: failures }: CronSummary): boolean {
  return failures > 0
}

const RESULTS: Readonly<Record<CronRun['result'], TonedLabel>> = {
  running: { tone: 'busy', label: 'Running' },
  succeeded: { tone: 'good', label: 'Succeeded' },
  failed: { tone: 'bad', label: 'Failed' },
  skipped: { tone: 'plain', label: 'Skipped' },
  missed: { tone: 'warn', label: 'Missed' },
}

export function RunBadge({ run: { result } }: { readonly run: CronRun }) {
  return <StateBadge table={RESULTS} state={result} />
}
