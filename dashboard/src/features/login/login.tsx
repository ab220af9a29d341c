import { useEffect, useState } from 'preact/hooks'
import { createClient } from '../../../../clients/typescript/src/client.ts'
import { BASE } from '../../api/client.ts'
import { faultText } from '../../api/faults.ts'
import { hasLoginCode, openByCode } from '../../api/login-code.ts'
import { LOGIN_AT } from '../../api/page.ts'
import { team } from '../../api/team.ts'
import { at } from '../../app/paths.ts'
import { Button } from '../../ui/button.tsx'
import { Loading } from '../../ui/empty.tsx'
import { TextField } from '../../ui/field.tsx'
import './login.css'

/** Opens a session with a token, which the page forgets at once: the browser keeps an `HttpOnly` cookie alone. */
export function Login({ onEntered }: { onEntered(): void }) {
  const [teamName, setTeamName] = useState(team.get())
  const { isOpening, fault } = useLoginCode(onEntered)
  if (isOpening) return <Loading what="the dashboard" />
  return (
    <main class="login">
      <div class="login-card form">
        <header>
          <img src={at('/mark.svg')} alt="" width="40" height="40" />
          <h1>Log in to Punctual</h1>
        </header>
        {fault !== null && (
          <p class="field-fault" role="alert">
            {faultText(fault)}
          </p>
        )}
        {LOGIN_AT !== null && (
          <>
            <Button look="main" onClick={() => goToProvider(teamName)}>
              Log in at {LOGIN_AT}
            </Button>
            <p class="login-or">or with a token</p>
          </>
        )}
        <TokenForm {...{ teamName, setTeamName, onEntered }} />
      </div>
    </main>
  )
}

/** A link that logs in is used as soon as nobody is logged in. */
function useLoginCode(onEntered: () => void): { readonly isOpening: boolean; readonly fault: unknown } {
  const [isOpening, setIsOpening] = useState(hasLoginCode)
  const [fault, setFault] = useState<unknown>(null)
  useEffect(() => {
    if (!hasLoginCode()) return
    openByCode()
      .then(onEntered, setFault)
      .finally(() => setIsOpening(false))
      .catch(() => undefined)
  }, [])
  return { isOpening, fault }
}

interface TokenFormProps {
  readonly teamName: string
  setTeamName(name: string): void
  onEntered(): void
}

function TokenForm({ teamName, setTeamName, onEntered }: TokenFormProps) {
  const [token, setToken] = useState('')
  const [fault, setFault] = useState<unknown>(null)
  const [isBusy, setIsBusy] = useState(false)
  const enter = async (): Promise<void> => {
    setIsBusy(true)
    try {
      const headers = { 'x-punctual-request': '1', ...(teamName !== '' && { 'x-punctual-team': teamName }) }
      await createClient({ server: BASE, token: token.trim(), headers, retriesMax: 0 }).openSession()
      team.set(teamName)
      onEntered()
    } catch (failure) {
      setFault(failure)
    } finally {
      setIsBusy(false)
    }
  }
  return (
    <form
      class="form"
      onSubmit={(event) => {
        event.preventDefault()
        void enter()
      }}
    >
      <TextField
        label="Token"
        type="password"
        value={token}
        isRequired
        isMono
        hint="An API token of a team, or one of a user of the cluster (kubectl create token)."
        onChange={setToken}
      />
      <TextField
        label="Team"
        value={teamName}
        hint={`The namespace, for ${LOGIN_AT === null ? 'users of the cluster' : 'users'} only. An API token has its team.`}
        onChange={setTeamName}
      />
      {fault !== null && (
        <p class="field-fault" role="alert">
          {faultText(fault)}
        </p>
      )}
      <Button type="submit" look={LOGIN_AT === null ? 'main' : 'plain'} isBusy={isBusy}>
        Log in
      </Button>
    </form>
  )
}

/** For a user of several teams, the login is for the one that is named. */
function goToProvider(teamName: string): void {
  team.set(teamName)
  const query = teamName === '' ? '' : `?${new URLSearchParams({ team: teamName }).toString()}`
  window.location.assign(`${BASE}/api/login/oidc${query}`)
}
