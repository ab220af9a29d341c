import { useState } from 'preact/hooks'
import { createClient } from '../../../../clients/typescript/src/client.ts'
import { BASE } from '../../api/client.ts'
import { faultText } from '../../api/faults.ts'
import { team } from '../../api/team.ts'
import { at } from '../../app/paths.ts'
import { Button } from '../../ui/button.tsx'
import { TextField } from '../../ui/field.tsx'
import './login.css'

/** Opens a session with a token, which the page forgets at once: the browser keeps an `HttpOnly` cookie alone. */
export function Login({ onEntered }: { onEntered(): void }) {
  const [token, setToken] = useState('')
  const [teamName, setTeamName] = useState(team.get())
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
    <main class="login">
      <form
        class="login-card form"
        onSubmit={(event) => {
          event.preventDefault()
          void enter()
        }}
      >
        <header>
          <img src={at('/mark.svg')} alt="" width="40" height="40" />
          <h1>Log in to Punctual</h1>
        </header>
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
          hint="The namespace; for users of the cluster only. An API token has its team."
          onChange={setTeamName}
        />
        {fault !== null && (
          <p class="field-fault" role="alert">
            {faultText(fault)}
          </p>
        )}
        <Button type="submit" look="main" isBusy={isBusy}>
          Log in
        </Button>
      </form>
    </main>
  )
}
