import { useState } from 'preact/hooks'
import { useLogOut } from './log-out.ts'
import { team } from '../../session/team.ts'
import { at } from '../../routing/paths.ts'
import { Button } from '../../ui/button.tsx'
import { TextField } from '../../ui/forms/field.tsx'
import { Card } from './card.tsx'
import { refusalText } from './trouble.ts'

/** For a user of several teams: everything is read anew for the one that is named. */
export function TeamForm() {
  const [name, setName] = useState(team.get())
  return (
    <form
      class="form"
      onSubmit={(event) => {
        event.preventDefault()
        team.set(name.trim())
        window.location.assign(at('/'))
      }}
    >
      <TextField label="Team" value={name} isRequired hint="Its namespace." onChange={setName} />
      <Button type="submit" look="main">
        Show this team
      </Button>
    </form>
  )
}

/** Replaces the screens for a user who is logged in, but has no role in the team that was named last. */
export function TeamNeeded({ fault }: { readonly fault: unknown }) {
  const logOut = useLogOut()
  return (
    <Card title="Choose a team" trouble={refusalText(fault, 'token')} focus="input">
      <TeamForm />
      <Button look="bare" icon="logout" onClick={logOut}>
        Log out
      </Button>
    </Card>
  )
}
