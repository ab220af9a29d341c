import { useState } from 'preact/hooks'
import type { TokenCreate } from '../../../../clients/typescript/src/client.ts'
import { useChange } from '../../editing/changes.ts'
import { BASE } from '../../session/client.ts'
import { useMe } from '../../session/me.ts'
import { quoted } from '../../format/curl.ts'
import { Dialog, DialogForm } from '../../ui/overlays/dialog.tsx'
import { CheckField, mistakesOf, SelectField, TextArea, TextField } from '../../ui/forms/field.tsx'
import type { Made } from './shown-once.tsx'
import { endsFor, newDraft, SCOPES, type TokenDraft, tokenOf } from './token-draft.ts'

export function TokenDialog({ onMade, onClose }: { onMade(made: Made): void; onClose(): void }) {
  const me = useMe()
  const [draft, setDraft] = useState(() => newDraft(me))
  const make = useChange((api, body: TokenCreate) => api.createToken({ body }), {
    isFaultShown: true,
    onDone: ({ name, token = '' }) => onMade(madeOf(name, token)),
  })
  return (
    <Dialog title="Make a token" size="large" onClose={onClose}>
      <DialogForm
        verb="Make the token"
        isReady={draft.scopes.length > 0}
        isBusy={make.isPending}
        fault={make.error}
        onSave={() => make.mutate(tokenOf(draft, me, Date.now()))}
        onClose={onClose}
      >
        <Fields draft={draft} fault={make.error} onChange={(change) => setDraft({ ...draft, ...change })} />
      </DialogForm>
    </Dialog>
  )
}

function madeOf(name: string, token: string): Made {
  const call = `curl ${quoted(`${BASE}/api/me`)} -H "Authorization: Bearer $PUNCTUAL_TOKEN"`
  return {
    label: `Token ${name}`,
    text: token,
    hint: '',
    command: `export PUNCTUAL_TOKEN='${token}'\n${call}`,
  }
}

interface FieldsProps {
  readonly draft: TokenDraft
  readonly fault: unknown
  onChange(change: Partial<TokenDraft>): void
}

function Fields({ draft, fault, onChange }: FieldsProps) {
  const me = useMe()
  const field = (
    name: 'name' | 'description' | 'queues' | 'ends' | 'rate' | 'burst',
    sent: string = name,
  ) => ({
    value: draft[name],
    mistakes: mistakesOf(fault, sent),
    onChange: (value: string) => onChange({ [name]: value }),
  })
  return (
    <>
      <div class="form-pair">
        <TextField label="Name" isRequired hint="Lower-case letters, digits and -." {...field('name')} />
        <TextField label="Used by" hint="For those who wonder later." {...field('description')} />
      </div>
      <ScopeFields draft={draft} onChange={onChange} />
      <div class="form-pair">
        <TextArea label="Queues" rows={2} hint="One name a line. Empty = all." {...field('queues')} />
        <SelectField label="Expires" options={endsFor(me)} {...field('ends', 'expires_at')} />
      </div>
      <div class="form-pair">
        <TextField
          label="Requests a second"
          type="number"
          hint="Empty = no limit."
          {...field('rate', 'rate_limit')}
        />
        <TextField label="Requests at once" type="number" disabled={draft.rate === ''} {...field('burst')} />
      </div>
    </>
  )
}

function ScopeFields({ draft, onChange }: Omit<FieldsProps, 'fault'>) {
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
