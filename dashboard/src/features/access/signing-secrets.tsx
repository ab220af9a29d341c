import { useState } from 'preact/hooks'
import type { SigningSecret } from '../../../../clients/typescript/src/client.ts'
import { useChange } from '../../api/changes.ts'
import { useRead } from '../../api/reads.ts'
import { Badge } from '../../ui/badge.tsx'
import { Button } from '../../ui/button.tsx'
import { Code } from '../../ui/code.tsx'
import { Confirm } from '../../ui/dialog.tsx'
import { Empty, Fault, Loading } from '../../ui/empty.tsx'
import { Panel } from '../../ui/page.tsx'
import { Time } from '../../ui/time.tsx'
import './access.css'
import { SecretDialog } from './secret-dialog.tsx'

const SECRETS_MAX = 2

/** What receivers know the calls of the team by: one secret, or two while they move from one to the other. */
export function SigningSecrets() {
  const read = useRead('listSigningSecrets', {})
  const [isMaking, setIsMaking] = useState(false)
  const secrets = read.data?.signing_secrets ?? []
  return (
    <>
      <Panel
        isFlush
        title="Signing secrets"
        actions={
          read.isSuccess && (
            <Button
              look="main"
              icon={secrets.length === 0 ? 'plus' : 'retry'}
              disabled={secrets.length >= SECRETS_MAX && 'Delete the older one first.'}
              onClick={() => setIsMaking(true)}
            >
              {secrets.length === 0 ? 'Make a signing secret' : 'Rotate'}
            </Button>
          )
        }
      >
        {read.isPending && <Loading what="signing secrets" />}
        {read.isError && <Fault fault={read.error} onRetry={() => void read.refetch()} />}
        {read.isSuccess && secrets.length === 0 && (
          <Empty icon="key" title="No signing secrets yet">
            <p>Calls go out unsigned: a receiver cannot tell them from forged ones.</p>
          </Empty>
        )}
        {secrets.length > 0 && <List secrets={secrets} />}
      </Panel>
      {secrets.length > 0 && <Verify />}
      {isMaking && <SecretDialog isRotation={secrets.length > 0} onClose={() => setIsMaking(false)} />}
    </>
  )
}

function List({ secrets }: { readonly secrets: readonly SigningSecret[] }) {
  const [doomed, setDoomed] = useState<SigningSecret | null>(null)
  const isRotation = secrets.length > 1
  return (
    <>
      <ul class="secrets">
        {secrets.map((secret) => (
          <li key={secret.id}>
            <div class="secret-name">
              <strong>{secret.secret_ref.name}</strong>
              <span class="soft">
                Key {secret.secret_ref.key}
                {secret.created_at !== null && (
                  <>
                    , made <Time at={secret.created_at} />
                  </>
                )}
              </span>
            </div>
            {secret.is_newest ? (
              <Badge tone="good">Signs</Badge>
            ) : (
              <Badge tone="warn">Signs too, until you delete it</Badge>
            )}
            <Button look="bare" icon="trash" onClick={() => setDoomed(secret)}>
              Delete
            </Button>
          </li>
        ))}
      </ul>
      {isRotation && (
        <p class="secrets-note" role="note">
          A rotation is under way: each call has a signature by both. When your receivers have the newer one,
          delete the older one.
        </p>
      )}
      {doomed !== null && <Delete secret={doomed} isLast={!isRotation} onClose={() => setDoomed(null)} />}
    </>
  )
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
  const remove = useChange((api) => api.deleteSigningSecret({ signing_secret_id: secret.id }), {
    isFaultShown: true,
    said: () => `Signing secret ${secret.secret_ref.name} deleted`,
    onDone: onClose,
  })
  return (
    <Confirm
      title="Delete a signing secret?"
      verb="Delete 1 signing secret"
      {...(isLast && { typed: 'unsigned' })}
      isBusy={remove.isPending}
      fault={remove.error}
      onConfirm={() => remove.mutate(undefined)}
      onClose={onClose}
    >
      <p>
        Within 2 seconds, calls are no longer signed with{' '}
        <strong class="token-doomed">{secret.secret_ref.name}</strong>. Receivers that know no other refuse
        them, and their jobs fail.
      </p>
      {isLast && <p>There is no other one: calls then go out unsigned.</p>}
      {!isLast && secret.is_newest && <p>It is the newer of the two. The older one then signs alone.</p>}
    </Confirm>
  )
}

const SNIPPET = `// npm install standardwebhooks
import { Webhook } from 'standardwebhooks'

const webhook = new Webhook(process.env.SIGNING_SECRET) // whsec_…
const body = webhook.verify(rawBody, request.headers) // throws when the signature is not valid`

function Verify() {
  return (
    <Panel title="Verify a call">
      <div class="stack">
        <p class="access-text">
          Calls carry the headers of Standard Webhooks, for which there are libraries in many languages, and a
          plain HMAC in <code>X-Punctual-Signature</code>. During a rotation, either secret verifies.
        </p>
        <Code label="In the receiver" text={SNIPPET} />
      </div>
    </Panel>
  )
}
