import type { Alert } from '../../../../clients/typescript/src/client.ts'
import { Badge } from '../../ui/text/badge.tsx'
import { TYPES } from './alert-text.ts'

export function AlertBadge({ type }: Pick<Alert, 'type'>) {
  const { tone, label } = TYPES[type]
  return <Badge tone={tone}>{label}</Badge>
}
