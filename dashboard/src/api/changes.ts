import { useMutation, useQueryClient, type UseMutationResult } from '@tanstack/preact-query'
import type { PunctualClient } from '../../../clients/typescript/src/client.ts'
import { useEffect } from 'preact/hooks'
import { showToast } from '../ui/toast.tsx'
import { api } from './client.ts'
import { faultText } from './faults.ts'

export interface ChangeOptions<Input, Answer> {
  /** What is said when it is done, such as `Queue "emails" paused`; absent = nothing. */
  said?(answer: Answer, input: Input): string
  onDone?(answer: Answer, input: Input): void
  /** Where a form shows the fault itself, no message is shown beside it. */
  readonly isFaultShown?: boolean
  /**
   * The answer has a secret: it is kept no longer than the part of the page that shows it. `change` is then a function of
   * the module: one made by the component would see the result, and be held with it.
   */
  readonly isSecret?: boolean
}

/** A change, after which everything on the screen is read again. `mutate` starts it, `isPending` says that it is under way. */
export function useChange<Input, Answer>(
  change: (client: PunctualClient, input: Input) => Promise<Answer>,
  { said, onDone, isFaultShown = false, isSecret = false }: ChangeOptions<Input, Answer> = {},
): UseMutationResult<Answer, Error, Input> {
  const queries = useQueryClient()
  const mutation = useMutation({
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
  useAtEnd(isSecret, mutation.reset)
  return mutation
}

/**
 * Browsers hold the form that was submitted last, and its handlers hold what they can reach: so the answer is taken out of
 * the mutation. Apart from it, for no handler may reach the result that the hook has returned.
 */
function useAtEnd(isWanted: boolean, run: () => void): void {
  useEffect(() => (isWanted ? run : undefined), [isWanted])
}
