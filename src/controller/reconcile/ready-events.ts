import type { ResourceEvent, KubeObject } from '../../ports/kubernetes.ts'
import type { Condition } from '../../resources/generated/kinds.ts'
import { refOf } from '../kinds.ts'

/** What people look for in `kubectl describe`. An engine that is away has none: it would be one for every resource. */
const TOLD: ReadonlySet<string> = new Set(['InvalidSpec', 'NameTaken'])

interface Conditioned {
  readonly conditions?: readonly Condition[]
}

/** Events of a status that is written: of trouble that begins, and of its end. */
export function readyEvents(
  resource: KubeObject & { readonly status?: Conditioned },
  after: Conditioned,
  action: 'ApplyQueue' | 'ApplyCron',
): readonly ResourceEvent[] {
  const former = readyOf(resource.status)
  const now = readyOf(after)
  if (now === undefined || now.reason === former?.reason) return []
  const isTrouble = TOLD.has(now.reason)
  const isOver = now.reason === 'Reconciled' && former !== undefined && TOLD.has(former.reason)
  if (!isTrouble && !isOver) return []
  const { reason, message: note } = now
  return [{ regarding: refOf(resource), type: isTrouble ? 'Warning' : 'Normal', reason, action, note }]
}

function readyOf(status: Conditioned | undefined): Condition | undefined {
  return status?.conditions?.find(({ type }) => type === 'Ready')
}
