import { useState } from 'preact/hooks'
import type { SigningSecret } from '../../../../clients/typescript/src/client.ts'
import { confirming, useChange } from '../../editing/changes.ts'
import { useRead } from '../../api/reads.ts'
import { Badge } from '../../ui/text/badge.tsx'
import { Button } from '../../ui/button.tsx'
import { Code } from '../../ui/text/code.tsx'
import { Confirm } from '../../ui/overlays/dialog.tsx'
import { Empty, QueryStatus } from '../../ui/page/empty.tsx'
import { Panel } from '../../ui/page/page.tsx'
import { type Column, Table } from '../../ui/tables/table.tsx'
import { Time } from '../../ui/text/time.tsx'
import './access.css'
import { SecretDialog } from './secret-dialog.tsx'
import { type Made, ShownOnce } from './shown-once.tsx'
import { useAskedForm } from '../../routing/asked-form.ts'

/** What receivers know the calls of the team by: one secret, or two while they move from one to the other. */
export function SigningSecrets() {
  const read = useRead('listSigningSecrets', {})
  const [isMaking, setIsMaking] = useAskedForm('secret')
  const [made, setMade] = useState<Made | null>(null)
  const [doomed, setDoomed] = useState<SigningSecret | null>(null)
  const secrets = read.data?.signing_secrets ?? []
  return (
    <>
      <Panel
        isFlush
        title="Signing secrets"
        actions={
          <Button
            look="main"
            icon="retry"
            disabled={secrets.length > 1 && 'Delete the older one first.'}
            onClick={() => setIsMaking(true)}
          >
            {secrets.length === 0 ? 'Make a signing secret' : 'Rotate'}
          </Button>
        }
      >
        <QueryStatus query={read} what="signing secrets" />
        {read.isSuccess && secrets.length === 0 && (
          <Empty icon="key" title="No signing secrets yet">
            <p>Calls go out unsigned: a receiver cannot tell them from forged ones.</p>
          </Empty>
        )}
        {secrets.length > 0 && (
          <Table
            caption="Signing secrets"
            rows={secrets}
            columns={columnsFor(setDoomed)}
            keyOf={({ id }) => id}
          />
        )}
      </Panel>
      {secrets.length > 0 && <Code label="Verify a call" text={SNIPPET} />}
      {isMaking && read.isSuccess && secrets.length < 2 && (
        <SecretDialog
          isRotation={secrets.length > 0}
          onMade={(next) => {
            setIsMaking(false)
            setMade(next)
          }}
          onClose={() => setIsMaking(false)}
        />
      )}
      {made !== null && <ShownOnce made={made} onClose={() => setMade(null)} />}
      {doomed !== null && (
        <Delete secret={doomed} isLast={secrets.length === 1} onClose={() => setDoomed(null)} />
      )}
    </>
  )
}

/** Calls carry the headers of Standard Webhooks, for which there are libraries in many languages. */
const SNIPPET = `import { Webhook } from 'standardwebhooks'

new Webhook(process.env.SIGNING_SECRET).verify(rawBody, request.headers) // throws unless it is valid`

function columnsFor(onDelete: (secret: SigningSecret) => void): ReadonlyArray<Column<SigningSecret>> {
  return [
    {
      head: 'Secret',
      isWide: true,
      cell: ({ secret_ref: { name, key } }) => (
        <>
          <strong>{name}</strong> <span class="soft">{key}</span>
        </>
      ),
    },
    {
      head: 'State',
      cell: ({ is_newest: isNewest }) => (
        <Badge tone={isNewest ? 'good' : 'warn'}>{isNewest ? 'Signs' : 'Signs until deleted'}</Badge>
      ),
    },
    { head: 'Made', align: 'end', isExtra: true, cell: ({ created_at: at }) => <Time at={at} /> },
    {
      head: 'Delete',
      align: 'end',
      cell: (secret) => (
        <Button
          look="bare"
          icon="trash"
          label={`Delete ${secret.secret_ref.name}`}
          onClick={() => onDelete(secret)}
        />
      ),
    },
  ]
}

function Delete({
  secret,
  isLast,
  onClose,
}: {
  readonly secret: SigningSecret
  readonly isLast: boolean
  onClose(): void
}) {
  const { name } = secret.secret_ref
  const remove = useChange((api) => api.deleteSigningSecret({ signing_secret_id: secret.id }), {
    isFaultShown: true,
    said: () => `Signing secret ${name} deleted`,
    onDone: onClose,
  })
  return (
    <Confirm
      title="Delete a signing secret?"
      verb="Delete the signing secret"
      {...(isLast && { typed: 'unsigned' })}
      {...confirming(remove)}
      onClose={onClose}
    >
      <p>
        {isLast
          ? 'Calls then go out unsigned.'
          : `It is the ${secret.is_newest ? 'newer' : 'older'} of the two.`}{' '}
        Receivers that know only <strong class="token-doomed">{name}</strong> refuse calls from then on.
      </p>
    </Confirm>
  )
}
