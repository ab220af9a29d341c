import { createContext } from 'preact'
import { useContext } from 'preact/hooks'
import type { Me } from '../../../clients/typescript/src/client.ts'

export type Right = keyof Me['may']

export const MeContext = createContext<Me | null>(null)

/** Who is logged in. Only below the shell, which is not shown before that is known. */
export function useMe(): Me {
  const me = useContext(MeContext)
  if (me === null) throw new Error('nobody is logged in')
  return me
}

/** Whether something may be done, for what is hidden or explained. The server refuses it all the same. */
export function useMay(right: Right): boolean {
  return useMe().may[right]
}

/** Whether one action may be done to many jobs: by nobody who is limited to some queues. */
export function useMayBulk(): boolean {
  const { may, queues } = useMe()
  return may.operate && queues === null
}
