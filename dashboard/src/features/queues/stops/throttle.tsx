import type { Queue } from '../../../../../clients/typescript/src/client.ts'
import { useChange } from '../../../editing/changes.ts'
import { plural } from '../../../format/numbers.ts'
import { useMay } from '../../../session/me.ts'
import { TextButton } from '../../../ui/button.tsx'
import { Notice } from '../../../ui/text/notice.tsx'
import { Time, useNow } from '../../../ui/text/time.tsx'
import { throttleOf } from './stop-words.ts'
import { toldRate } from '../settings/flow-text.ts'

/** Whether its throttle keeps a job waiting, or will: a rate that has nothing to slow down is none. */
export function isSlowed({ throttled, counts }: Queue): boolean {
  return throttled !== null && (throttled.reason !== 'rate_limited' || counts.pending > 0)
}

/** When the next job begins. @param at null = now, as is what has passed */
export function NextTry({ at, form }: { readonly at: string | null; readonly form?: 'exact' }) {
  const nowMs = useNow()
  return at === null || Date.parse(at) <= nowMs ? (
    <>now</>
  ) : (
    <Time at={at} {...(form !== undefined && { form })} />
  )
}

/** Why a queue may not begin jobs and until when, with the way to end it. */
export function ThrottledNotice({ queue }: { readonly queue: Queue }) {
  const { throttled, rate_limit: rate, counts } = queue
  if (throttled === null || !isSlowed(queue)) return null
  const { reason, until } = throttled
  const waiting = plural(counts.pending, 'ready job waits', 'ready jobs wait')
  if (reason === 'rate_limited') {
    return (
      <Notice icon="queue" tone="busy">
        <strong>{throttleOf(reason).said}</strong> {rate !== null && `${toldRate(rate)}. `}The next job begins{' '}
        <NextTry at={until} form="exact" />; {waiting}.
      </Notice>
    )
  }
  const isOpen = reason === 'circuit_open'
  const { tone, said } = throttleOf(reason)
  return (
    <Notice icon={isOpen ? 'warning' : 'cron'} tone={tone}>
      <strong>{said}</strong> {isOpen && 'Too many calls failed. '}
      {until === null ? (
        'One job tries the target now, and the others wait for its end'
      ) : (
        <>
          No job begins until one tries the target <NextTry at={until} form="exact" />
        </>
      )}
      ; {waiting}. <CallNow queue={queue} />
    </Notice>
  )
}

/** A queue that is paused or drains is resumed by the button of its page, which ends the throttle as well. */
function CallNow({ queue }: { readonly queue: Queue }) {
  const { queue_id: id, name, is_active: isActive, is_draining: isDraining } = queue
  const mayOperate = useMay('operate')
  const resume = useChange((api) => api.resumeQueue({ queue_id: id }), {
    said: () => `Jobs of queue “${name}” may begin`,
  })
  if (!mayOperate || !isActive || isDraining) return null
  return (
    <TextButton onClick={() => !resume.isPending && resume.mutate(undefined)}>Let jobs begin now</TextButton>
  )
}
