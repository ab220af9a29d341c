import type { CronRun, CronSummary } from '../../../../clients/typescript/src/client.ts'
import { Badge } from '../../ui/text/badge.tsx'
import type { Tone } from '../../ui/tone.ts'

/** Whether it ticks, and how its runs have been, in one or two words. */
export function CronBadge({ cron }: { readonly cron: CronSummary }) {
  if (!cron.is_active) return <Badge tone="warn">Paused</Badge>
  if (isFailing(cron)) return <Badge tone="bad">Failing</Badge>
  return <Badge tone="good">Active</Badge>
}

export function isFailing({ consecutive_failures: failures }: CronSummary): boolean {
  return failures > 0
}

const RESULTS: Readonly<Record<CronRun['result'], readonly [Tone, string]>> = {
  running: ['busy', 'Running'],
  succeeded: ['good', 'Succeeded'],
  failed: ['bad', 'Failed'],
  skipped: ['plain', 'Skipped'],
  missed: ['warn', 'Missed'],
}

export function RunBadge({ run: { result } }: { readonly run: CronRun }) {
  const [tone, label] = RESULTS[result]
  return <Badge tone={tone}>{label}</Badge>
}
