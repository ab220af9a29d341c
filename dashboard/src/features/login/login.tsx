import type { ComponentChildren } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import { createClient } from '../../../../clients/typescript/src/client.ts'
import { BASE, enterTeam, requestHeaders } from '../../session/client.ts'
import { hasLoginCode, LOGIN_TROUBLE, openByCode } from '../../session/login-code.ts'
import { IS_BY_HAND, LOGIN_AT } from '../../session/page.ts'
import { team } from '../../session/team.ts'
import { Button } from '../../ui/button.tsx'
import { Loading } from '../../ui/page/empty.tsx'
import { TextField } from '../../ui/forms/field.tsx'
import { Card } from './card.tsx'
import { refusalText, troubleText } from './trouble.ts'
import { keepWayBack } from '../../routing/way-back.ts'

/** Opens a session with a token, which the page forgets at once: the browser keeps an `HttpOnly` cookie alone. */
export function Login({ isEnded, onEntered }: { readonly isEnded: boolean; onEntered(): void }) {
  const [teamName, setTeamName] = useState(team.get())
  const { isOpening, fault, open } = useLoginCode(onEntered)
  if (isOpening) return <Loading what="the dashboard" />
  const trouble = fault === null ? troubleText(LOGIN_TROUBLE) : refusalText(fault, 'link')
  const ended = isEnded ? 'Your session has ended. Log in to go on where you were.' : null
  const teamField = <TeamField value={teamName} onChange={setTeamName} />
  return (
    <Card
      title="Log in to Punctual"
      trouble={trouble ?? ended}
      // Not the button of a link: a key pressed for the previous page must not log anybody in.
      focus={LOGIN_AT === null || hasLoginCode() ? 'input' : '[data-look=main]'}
    >
      {hasLoginCode() && (
        <>
          <p>This link logs you in as whoever made it. Go on only if you asked for it.</p>
          <Button look="main" onClick={open}>
            Log in by the link
          </Button>
        </>
      )}
      {LOGIN_AT !== null && (
        <>
          {teamField}
          <Button look={hasLoginCode() ? 'plain' : 'main'} onClick={() => goToProvider(teamName)}>
            Log in at {LOGIN_AT}
          </Button>
          <p class="login-or">or with a token</p>
        </>
      )}
      <TokenForm teamName={teamName} onEntered={onEntered}>
        {LOGIN_AT === null && teamField}
      </TokenForm>
    </Card>
  )
}

/**
 * A link that logs in is used as soon as nobody is logged in. Where another site may have led here, it takes a click: the
 * link could be its maker's, who would see all that is then entered in their name.
 */
function useLoginCode(onEntered: () => void) {
  const [isOpening, setIsOpening] = useState(IS_BY_HAND && hasLoginCode())
  const [fault, setFault] = useState<unknown>(null)
  const open = (): void => {
    setIsOpening(true)
    openByCode()
      .then(onEntered, setFault)
      .finally(() => setIsOpening(false))
      .catch(() => undefined)
  }
  useEffect(() => {
    if (isOpening) open()
  }, [])
  return { isOpening, fault, open }
}

function TeamField({ value, onChange }: { readonly value: string; onChange(value: string): void }) {
  const hint =
    LOGIN_AT === null
      ? 'The namespace; for users of the cluster only. An API token has its team.'
      : 'Only if you are in several. An API token has its team.'
  return <TextField label="Team" value={value} hint={hint} onChange={onChange} />
}

interface TokenFormProps {
  readonly teamName: string
  readonly children?: ComponentChildren
  onEntered(): void
}

export function TokenForm({ teamName, children, onEntered }: TokenFormProps) {
  const [token, setToken] = useState('')
  const [fault, setFault] = useState<unknown>(null)
  const [isBusy, setIsBusy] = useState(false)
  const enter = async (): Promise<void> => {
    setIsBusy(true)
    try {
      const headers = requestHeaders(teamName)
      await createClient({ server: BASE, token: token.trim(), headers, retriesMax: 0 }).openSession()
      enterTeam(teamName)
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
      {children}
      {fault !== null && (
        <p class="field-fault" role="alert">
          {refusalText(fault, 'token')}
        </p>
      )}
      <Button type="submit" look={LOGIN_AT === null && !hasLoginCode() ? 'main' : 'plain'} isBusy={isBusy}>
        Log in{LOGIN_AT !== null && ' with a token'}
      </Button>
    </form>
  )
}

/** For a user of several teams, the login is for the one that is named. */
function goToProvider(teamName: string): void {
  team.set(teamName)
  keepWayBack()
  const query = teamName === '' ? '' : `?${new URLSearchParams({ team: teamName }).toString()}`
  window.location.assign(`${BASE}/api/login/oidc${query}`)
}
