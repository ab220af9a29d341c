import { useState } from 'preact/hooks'
import type { NewNotificationChannel } from '../../../../clients/typescript/src/client.ts'
import { useChange } from '../../editing/changes.ts'
import { CheckField, mistakesOf, SelectField, TextField } from '../../ui/forms/field.tsx'
import { Dialog, DialogForm } from '../../ui/overlays/dialog.tsx'
import { ALERT_TYPES, TYPES } from './channel-state.ts'

type Draft = Required<NewNotificationChannel>
type ChannelType = Draft['type']

const NEW: Draft = {
  name: '',
  type: 'slack',
  alert_types: ['failure', 'recovery', 'limit_warning'],
  url: '',
  test: true,
}
const OPTIONS = (Object.keys(TYPES) as ChannelType[]).map((type) => ({ value: type, label: TYPES[type] }))

/** Adds a channel, which is kept only if it takes a test message. */
export function ChannelDialog({ onClose }: { onClose(): void }) {
  const [draft, setDraft] = useState(NEW)
  const add = useChange(
    (api, { url, ...rest }: Draft) =>
      api.createNotificationChannel({ body: rest.type === 'email' ? rest : { ...rest, url } }),
    {
      isFaultShown: true,
      said: ({ name }, { test }) => (test ? `Channel ${name} took a test message` : `Channel ${name} added`),
      onDone: onClose,
    },
  )
  return (
    <Dialog title="Add a channel" size="large" onClose={onClose}>
      <DialogForm
        verb={draft.test ? 'Test and add the channel' : 'Add the channel'}
        isReady={draft.alert_types.length > 0}
        isBusy={add.isPending}
        fault={add.error}
        onSave={() => add.mutate(draft)}
        onClose={onClose}
      >
        <Fields draft={draft} fault={add.error} onChange={(change) => setDraft({ ...draft, ...change })} />
      </DialogForm>
    </Dialog>
  )
}

interface FieldsProps {
  readonly draft: Draft
  readonly fault: unknown
  onChange(change: Partial<Draft>): void
}

function Fields({ draft, fault, onChange }: FieldsProps) {
  const { name, type, url, test } = draft
  return (
    <>
      <div class="form-pair">
        <TextField
          label="Name"
          isRequired
          hint="Lower-case letters, digits and -."
          value={name}
          mistakes={mistakesOf(fault, 'name')}
          onChange={(value) => onChange({ name: value })}
        />
        <SelectField
          label="Sends to"
          options={OPTIONS}
          value={type}
          mistakes={mistakesOf(fault, 'type')}
          onChange={(value) => onChange({ type: value })}
        />
      </div>
      {type === 'email' ? (
        <p class="soft">It writes to the members of the team.</p>
      ) : (
        <TextField
          label="URL"
          isRequired
          hint="It is a secret: nobody is shown it again."
          value={url}
          mistakes={mistakesOf(fault, 'url')}
          onChange={(value) => onChange({ url: value })}
        />
      )}
      <AlertTypes draft={draft} onChange={onChange} />
      <CheckField
        label="Send a test message"
        hint="A channel that does not take it is not kept."
        isChecked={test}
        onChange={(isChecked) => onChange({ test: isChecked })}
      />
    </>
  )
}

function AlertTypes({ draft: { alert_types: chosen }, onChange }: Omit<FieldsProps, 'fault'>) {
  return (
    <fieldset class="channel-alerts">
      <legend class="field-label">Alerts that it gets</legend>
      {ALERT_TYPES.map(({ type, word }) => (
        <CheckField
          key={type}
          label={word}
          isChecked={chosen.includes(type)}
          onChange={(isChecked) =>
            onChange({
              alert_types: isChecked ? [...chosen, type] : chosen.filter((one) => one !== type),
            })
          }
        />
      ))}
    </fieldset>
  )
}
