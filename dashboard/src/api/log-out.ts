import { useChange } from './changes.ts'
import { BASE } from './client.ts'

/** Ends the session, and leads to the login without what was on the screen. */
export function useLogOut(): () => void {
  const { mutate } = useChange((api) => api.endSession(), {
    onDone: () => window.location.assign(`${BASE}/`),
  })
  return () => mutate(undefined)
}
