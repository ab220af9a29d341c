import type { Alert } from '../../../../clients/typescript/src/client.ts'
import { StateBadge } from '../../ui/text/badge.tsx'
import { TYPES } from './alert-text.ts'

export function AlertBadge({ type }: Pick<Alert, 'type'>) {
  return <StateBadge table={TYPES} state={type} />
}
