import { useChange } from '../../editing/changes.ts'
import { BASE } from '../../session/client.ts'

/** Ends the session, and leads to the login without what was on the screen. */
export function useLogOut(): () => void {
  const { mutate } = useChange((api) => api.endSession(), {
    onDone: () => window.location.assign(`${BASE}/`),
  })
  return () => mutate(undefined)
}
