import { QueryClientProvider, useQueryClient } from '@tanstack/preact-query'
import { ErrorBoundary, LocationProvider } from 'preact-iso'
import { useEffect, useState } from 'preact/hooks'
import { isLoggedOut } from '../api/faults.ts'
import { MeContext } from '../api/me.ts'
import { HAS_SESSION } from '../api/page.ts'
import { createQueryClient, useRead } from '../api/reads.ts'
import { Login } from '../features/login/login.tsx'
import { Fault, Loading } from '../ui/empty.tsx'
import { Toasts } from '../ui/toast.tsx'
import { useKeyboard } from './keyboard.ts'
import { at } from './paths.ts'
import { Screens } from './screens.tsx'
import { Shell } from './shell.tsx'

const queries = createQueryClient()

export function App() {
  return (
    <QueryClientProvider client={queries}>
      <LocationProvider scope={at('/')}>
        <ErrorBoundary>
          <Entrance />
        </ErrorBoundary>
        <Toasts />
      </LocationProvider>
    </QueryClientProvider>
  )
}

/** Asks who is logged in, and shows the login to those who are not. */
function Entrance() {
  useKeyboard()
  const [isKnown, setIsKnown] = useState(HAS_SESSION)
  const me = useRead('readMe', {}, { isLive: false, isWanted: isKnown })
  const client = useQueryClient()
  const isOut = isLoggedOut(me.error)
  useEffect(() => {
    // Whatever finds the session ended asks who is logged in, and so comes here.
    return client.getQueryCache().subscribe(({ type, query }) => {
      if (type !== 'updated' || query.queryKey[0] === 'readMe' || !isLoggedOut(query.state.error)) return
      void client.invalidateQueries({ queryKey: ['readMe'] })
    })
  }, [client])
  if (!isKnown || isOut) {
    return (
      <Login
        onEntered={() => {
          if (isKnown) void client.resetQueries()
          else setIsKnown(true)
        }}
      />
    )
  }
  if (me.data === undefined) {
    return me.error === null ? (
      <Loading what="who you are" />
    ) : (
      <Fault fault={me.error} onRetry={() => void me.refetch()} />
    )
  }
  return (
    <MeContext.Provider value={me.data}>
      <Shell>
        <Screens />
      </Shell>
    </MeContext.Provider>
  )
}
