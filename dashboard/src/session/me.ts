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

/** Answered to nobody who is limited to some queues, because they tell of the whole team. */
const OF_THE_TEAM: ReadonlySet<string> = new Set([
  'countAlerts',
  'listAuditRecords',
  'listBulks',
  'listSigningSecrets',
  'listTeamSessions',
  'readBulk',
  'readStatistics',
  'readStatus',
  'readTeam',
])

/** Whether an operation that reads is worth asking: a refusal of it would only fill the console. */
export function useMayRead(operation: string): boolean {
  const me = useContext(MeContext)
  if (me === null || operation === 'readMe') return true
  return me.may.read && (me.queues === null || !OF_THE_TEAM.has(operation))
}
