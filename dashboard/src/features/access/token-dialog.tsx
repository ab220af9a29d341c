import { useState } from 'preact/hooks'
import type { PunctualClient, TokenCreate } from '../../../../clients/typescript/src/client.ts'
import { useChange } from '../../api/changes.ts'
import { BASE } from '../../api/client.ts'
import { faultText } from '../../api/faults.ts'
import { useMe } from '../../api/me.ts'
import { quoted } from '../../format/curl.ts'
import { Button } from '../../ui/button.tsx'
import { Code } from '../../ui/code.tsx'
import { Dialog } from '../../ui/dialog.tsx'
import { CheckField, mistakesOf, SelectField, TextArea, TextField } from '../../ui/field.tsx'
import { ShownOnce } from './shown-once.tsx'
import { endsFor, newDraft, SCOPES, type TokenDraft, tokenOf } from './token-draft.ts'

const create = (api: PunctualClient, body: TokenCreate) => api.createToken({ body })

/** Makes a token, and shows it as long as it is open. */
export function TokenDialog({ onClose }: { onClose(): void }) {
  const me = useMe()
  const [draft, setDraft] = useState(() => newDraft(me))
  const make = useChange(create, {
    isFaultShown: true,
  })
  const token = make.data?.token
  if (token !== undefined) {
    // Another dialog than that of the form, which browsers hold for a while after it was sent.
    return (
      <Dialog key="shown" title={`The token ${draft.name.trim()}`} size="large" isFirm onClose={onClose}>
        <ShownOnce label="Token" text={token} onClose={onClose}>
          <Code label="Try it in a terminal" text={tryCommand(token)} />
        </ShownOnce>
      </Dialog>
    )
  }
  return (
    <Dialog title="Make a token" size="large" onClose={onClose}>
      <form
        class="dialog-form"
        onSubmit={(event) => {
          event.preventDefault()
          if (!make.isPending) make.mutate(tokenOf(draft, me, Date.now()))
        }}
      >
        <Fields draft={draft} fault={make.error} onChange={(change) => setDraft({ ...draft, ...change })} />
        {make.error !== null && (
          <p class="field-fault" role="alert">
            {faultText(make.error)}
          </p>
        )}
        <footer class="dialog-foot">
          <Button onClick={onClose}>Cancel</Button>
          <Button
            type="submit"
            look="main"
            isBusy={make.isPending}
            disabled={draft.scopes.length === 0 && 'Choose what it may do.'}
          >
            Make 1 token
          </Button>
        </footer>
      </form>
    </Dialog>
  )
}

function tryCommand(token: string): string {
  return [
    `export PUNCTUAL_TOKEN=${quoted(token)}`,
    `curl ${quoted(`${BASE}/api/me`)} -H "Authorization: Bearer $PUNCTUAL_TOKEN"`,
  ].join('\n')
}

interface FieldsProps {
  readonly draft: TokenDraft
  readonly fault: unknown
  onChange(change: Partial<TokenDraft>): void
}

function Fields({ draft, fault, onChange }: FieldsProps) {
  const me = useMe()
  return (
    <>
      <div class="form-pair">
        <TextField
          label="Name"
          isRequired
          placeholder="ci"
          hint="Lower-case letters, digits and -."
          value={draft.name}
          mistakes={mistakesOf(fault, 'name')}
          onChange={(name) => onChange({ name })}
        />
        <TextField
          label="Used by"
          hint="For those who wonder later."
          value={draft.description}
          mistakes={mistakesOf(fault, 'description')}
          onChange={(description) => onChange({ description })}
        />
      </div>
      <ScopeFields draft={draft} fault={fault} onChange={onChange} />
      <div class="form-pair">
        <TextArea
          label="Queues"
          rows={3}
          hint={me.queues === null ? 'One name a line. Empty = all.' : 'One name a line, of your own queues.'}
          value={draft.queues}
          mistakes={mistakesOf(fault, 'queues')}
          onChange={(queues) => onChange({ queues })}
        />
        <SelectField
          label="Expires"
          value={draft.ends}
          options={endsFor(me)}
          mistakes={mistakesOf(fault, 'expires_at')}
          onChange={(ends) => onChange({ ends })}
        />
      </div>
      <RateFields draft={draft} fault={fault} onChange={onChange} />
    </>
  )
}

function ScopeFields({ draft, onChange }: FieldsProps) {
  const { scopes } = draft
  return (
    <fieldset class="token-scopes">
      <legend class="field-label">It may</legend>
      {SCOPES.map(({ scope, allows }) => (
        <CheckField
          key={scope}
          label={scope}
          hint={allows}
          isChecked={scopes.includes(scope)}
          onChange={(isChecked) =>
            onChange({ scopes: isChecked ? [...scopes, scope] : scopes.filter((one) => one !== scope) })
          }
        />
      ))}
    </fieldset>
  )
}

function RateFields({ draft, fault, onChange }: FieldsProps) {
  return (
    <div class="form-pair">
      <TextField
        label="Requests a second"
        type="number"
        hint="In the long run. Empty = no limit."
        value={draft.rate}
        mistakes={mistakesOf(fault, 'rate_limit')}
        onChange={(rate) => onChange({ rate })}
      />
      <TextField
        label="Requests at once"
        type="number"
        hint="Empty = as many as a second."
        disabled={draft.rate === ''}
        value={draft.burst}
        onChange={(burst) => onChange({ burst })}
      />
    </div>
  )
}
