import { QueryClientProvider, useQueryClient } from '@tanstack/preact-query'
import { ErrorBoundary, lazy, LocationProvider, Route, Router } from 'preact-iso'
import { useEffect } from 'preact/hooks'
import { isLoggedOut } from '../api/faults.ts'
import { MeContext } from '../api/me.ts'
import { createQueryClient, useRead } from '../api/reads.ts'
import { Login } from '../features/login/login.tsx'
import { Empty, Fault, Loading } from '../ui/empty.tsx'
import { Page } from '../ui/page.tsx'
import { Toasts } from '../ui/toast.tsx'
import { useKeyboard } from './keyboard.ts'
import { at } from './paths.ts'
import { Shell } from './shell.tsx'

const Overview = lazy(() => import('../features/overview/overview.tsx').then((one) => one.Overview))
const QueueList = lazy(() => import('../features/queues/queue-list.tsx').then((one) => one.QueueList))

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
  const me = useRead('readMe', {}, { isLive: false })
  const client = useQueryClient()
  const isOut = isLoggedOut(me.error)
  useEffect(() => {
    // Whatever finds the session ended asks who is logged in, and so comes here.
    return client.getQueryCache().subscribe(({ type, query }) => {
      if (type !== 'updated' || query.queryKey[0] === 'readMe' || !isLoggedOut(query.state.error)) return
      void client.invalidateQueries({ queryKey: ['readMe'] })
    })
  }, [client])
  if (isOut) return <Login onEntered={() => client.resetQueries()} />
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

function Screens() {
  useKeyboard()
  return (
    <Router>
      <Route path={at('/')} component={Overview} />
      <Route path={at('/queues')} component={QueueList} />
      <Route default component={Absent} />
    </Router>
  )
}

function Absent() {
  return (
    <Page title="Not found">
      <Empty icon="search" title="There is no such page">
        <a href={at('/')}>To the overview</a>
      </Empty>
    </Page>
  )
}
