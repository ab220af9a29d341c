import type { ComponentType } from 'preact'
import { useEffect, useState } from 'preact/hooks'

/** Open issues, above all else. They come in a file of their own, for which the rest of the page does not wait. */
export function OpenIssues() {
  const [Shown, setShown] = useState<ComponentType | null>(null)
  useEffect(() => {
    let isHere = true
    void import('../issues/open-issues.tsx').then(
      ({ OpenIssues: loaded }) => {
        if (isHere) setShown(() => loaded)
      },
      // What needs attention is shown below all the same.
      () => undefined,
    )
    return () => {
      isHere = false
    }
  }, [])
  return Shown === null ? null : <Shown />
}
