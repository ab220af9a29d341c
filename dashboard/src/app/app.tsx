import { QueryClientProvider, useQueryClient } from '@tanstack/preact-query'
import { LocationProvider, useLocation } from 'preact-iso'
import { useEffect, useState } from 'preact/hooks'
import { stayIn } from '../session/client.ts'
import { isLoggedOut, isTeamRefused } from '../format/faults.ts'
import { MeContext } from '../session/me.ts'
import { HAS_SESSION } from '../session/page.ts'
import { createQueryClient, useRead } from '../api/reads.ts'
import { Login } from '../features/login/login.tsx'
import { OtherLogin } from '../features/login/other-login.tsx'
import { TeamNeeded } from '../features/login/team-form.tsx'
import { takeWayBack } from '../routing/way-back.ts'
import { Fault, Loading } from '../ui/page/empty.tsx'
import { Toasts } from '../ui/overlays/toast.tsx'
import { at } from '../routing/paths.ts'
import { Screens } from './screens.tsx'
import { Shell } from './shell.tsx'

const queries = createQueryClient()

export function App() {
  return (
    <QueryClientProvider client={queries}>
      <LocationProvider scope={at('/')}>
        <Entrance />
        <Toasts />
      </LocationProvider>
    </QueryClientProvider>
  )
}

/** Asks who is logged in, and shows the login to those who are not. */
function Entrance() {
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
        isEnded={me.data !== undefined}
        onEntered={() => {
          if (isKnown) void client.resetQueries()
          else setIsKnown(true)
        }}
      />
    )
  }
  if (isTeamRefused(me.error)) return <TeamNeeded fault={me.error} />
  if (me.data === undefined) {
    return me.error === null ? (
      <Loading what="who you are" />
    ) : (
      <Fault fault={me.error} onRetry={() => void me.refetch()} />
    )
  }
  stayIn(me.data.team)
  return (
    <MeContext.Provider value={me.data}>
      <WayBack />
      <OtherLogin />
      <Shell>
        <Screens />
      </Shell>
    </MeContext.Provider>
  )
}

/** After a login at the provider, returns to the page that the user came from. */
function WayBack() {
  const { route } = useLocation()
  useEffect(() => {
    const way = takeWayBack()
    if (way !== null) route(way, true)
  }, [])
  return null
}
