/** Shown in lists and on the page of a chain. */
import { Badge } from '../../ui/text/badge.tsx'
import { stateOf, type Told } from './job-state.ts'

export function JobBadge({ job, nowMs }: { readonly job: Told; readonly nowMs: number }) {
  const { tone, label } = stateOf(job, nowMs)
  return <Badge tone={tone}>{label}</Badge>
}
