import { useQueryClient } from '@tanstack/preact-query'
import { useEffect, useRef, useState } from 'preact/hooks'
import type { PunctualClient } from '../../../clients/typescript/src/client.ts'
import { showToast } from '../ui/overlays/toast.tsx'
import { api } from '../session/client.ts'
import { faultText } from '../format/faults.ts'

export interface ChangeOptions<Input, Answer> {
  /** What is said when it is done, such as `Queue "emails" paused`; absent = nothing. */
  said?(answer: Answer, input: Input): string
  onDone?(answer: Answer, input: Input): void
  onFault?(fault: unknown): void
  /** The form shows the fault itself, so no toast does. */
  readonly isFaultShown?: boolean
}

/** How the last one went. */
export interface Change<Input, Answer> {
  readonly isPending: boolean
  readonly data: Answer | undefined
  readonly error: Error | null
  mutate(input: Input): void
}

/** A change, after which everything on the screen is read again. `mutate` starts it, `isPending` says that it is under way. */
export function useChange<Input, Answer>(
  change: (client: PunctualClient, input: Input) => Promise<Answer>,
  { said, onDone, onFault, isFaultShown = false }: ChangeOptions<Input, Answer> = {},
): Change<Input, Answer> {
  const queries = useQueryClient()
  const [{ isPending, error }, setEnd] = useState<Pick<Change<Input, Answer>, 'isPending' | 'error'>>({
    isPending: false,
    error: null,
  })
  const calls = useRef(0)
  // Apart from the state, so that nothing of it is left when the part of the page that shows it is gone: it may be a secret,
  // and browsers hold the form that was submitted last, with what its handlers can reach.
  const answer = useRef<Answer>()
  useEffect(
    () => () => {
      calls.current = 0
      answer.current = undefined
    },
    [],
  )
  const run = async (input: Input): Promise<void> => {
    calls.current += 1
    const call = calls.current
    answer.current = undefined
    setEnd({ isPending: true, error: null })
    let fault: Error | null = null
    try {
      const given = await change(api, input)
      if (call === calls.current) answer.current = given
      if (said !== undefined) showToast({ tone: 'good', text: said(given, input) })
      onDone?.(given, input)
    } catch (thrown) {
      fault = thrown instanceof Error ? thrown : new Error(String(thrown))
      if (!isFaultShown) showToast({ tone: 'bad', text: faultText(fault) })
      onFault?.(fault)
    }
    // Also after a fault: what is on the screen may be why it was refused.
    const reading = queries.invalidateQueries()
    // A refusal is shown at once. After a change, the button waits until the page shows its effect.
    if (fault === null) await reading
    if (call === calls.current) setEnd({ isPending: false, error: fault })
  }
  return {
    isPending,
    error,
    data: isPending ? undefined : answer.current,
    mutate: (input) => void run(input),
  }
}

/** The properties of a `Confirm` that starts a change, waits for it and shows its fault. */
export function confirming({ isPending, error, mutate }: Change<undefined, unknown>) {
  return { isBusy: isPending, fault: error, onConfirm: () => mutate(undefined) }
}
