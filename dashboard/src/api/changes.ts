import { useMutation, useQueryClient, type UseMutationResult } from '@tanstack/preact-query'
import type { PunctualClient } from '../../../clients/typescript/src/client.ts'
import { showToast } from '../ui/toast.tsx'
import { api } from './client.ts'
import { faultText } from './faults.ts'

export interface ChangeOptions<Input, Answer> {
  /** What is said when it is done, such as `Queue "emails" paused`; absent = nothing. */
  said?(answer: Answer, input: Input): string
  onDone?(answer: Answer, input: Input): void
  /** Where a form shows the fault itself, no message is shown beside it. */
  readonly isFaultShown?: boolean
  /** The answer has a secret: it is kept no longer than the part of the page that shows it. */
  readonly isSecret?: boolean
}

/** A change, after which everything on the screen is read again. `mutate` starts it, `isPending` says that it is under way. */
export function useChange<Input, Answer>(
  change: (client: PunctualClient, input: Input) => Promise<Answer>,
  { said, onDone, isFaultShown = false, isSecret = false }: ChangeOptions<Input, Answer> = {},
): UseMutationResult<Answer, Error, Input> {
  const queries = useQueryClient()
  return useMutation({
    mutationFn: (input: Input) => change(api, input),
    ...(isSecret && { gcTime: 0 }),
    onSuccess: (answer, input) => {
      if (said !== undefined) showToast({ tone: 'good', text: said(answer, input) })
      onDone?.(answer, input)
    },
    onError: (fault) => {
      if (!isFaultShown) showToast({ tone: 'bad', text: faultText(fault) })
    },
    // Also after a fault: what is on the screen may be why it was refused.
    onSettled: () => queries.invalidateQueries(),
  })
}
