import { useState } from 'preact/hooks'
import type { Token } from '../../../../clients/typescript/src/client.ts'
import { confirming, useChange } from '../../editing/changes.ts'
import { useMe } from '../../session/me.ts'
import { usePages } from '../../api/reads.ts'
import { plural } from '../../format/numbers.ts'
import { Badge } from '../../ui/text/badge.tsx'
import { Button } from '../../ui/button.tsx'
import { Confirm } from '../../ui/overlays/dialog.tsx'
import { Empty, QueryStatus } from '../../ui/page/empty.tsx'
import { MorePages } from '../../ui/tables/more-pages.tsx'
import { Panel } from '../../ui/page/page.tsx'
import { type Column, Table } from '../../ui/tables/table.tsx'
import { Time, useNow } from '../../ui/text/time.tsx'
import './access.css'
import { type Made, ShownOnce } from './shown-once.tsx'
import { TokenDialog } from './token-dialog.tsx'
import { Verbatim } from '../../ui/text/verbatim.tsx'
import { useAskedForm } from '../../routing/asked-form.ts'
import { visible } from '../../format/visible.ts'

const PAGE_SIZE = 100
const SOON_MS = 7 * 86_400_000

export function Tokens() {
  const tokens = usePages('listTokens', { limit: PAGE_SIZE })
  const [isMaking, setIsMaking] = useAskedForm('token')
  const [made, setMade] = useState<Made | null>(null)
  const [doomed, setDoomed] = useState<Token | null>(null)
  const all = tokens.data?.pages.flatMap((page) => page.tokens) ?? []
  return (
    <Panel
      isFlush
      title={tokens.hasNextPage ? `The first ${plural(all.length, 'token')}` : 'Tokens'}
      actions={
        <Button look="main" icon="plus" onClick={() => setIsMaking(true)}>
          Make a token
        </Button>
      }
    >
      <QueryStatus query={tokens} what="tokens" />
      {tokens.isSuccess && all.length === 0 && (
        <Empty icon="key" title="No tokens yet">
          <p>Each program that pushes or reads jobs needs one.</p>
        </Empty>
      )}
      {all.length > 0 && (
        <Table caption="Tokens" rows={all} columns={columnsFor(setDoomed)} keyOf={({ id }) => id} />
      )}
      <MorePages query={tokens} what="tokens" />
      {isMaking && (
        <TokenDialog
          onMade={(next) => {
            setIsMaking(false)
            setMade(next)
          }}
          onClose={() => setIsMaking(false)}
        />
      )}
      {made !== null && <ShownOnce made={made} onClose={() => setMade(null)} />}
      {doomed !== null && <Revoke token={doomed} onClose={() => setDoomed(null)} />}
    </Panel>
  )
}

function columnsFor(onRevoke: (token: Token) => void): ReadonlyArray<Column<Token>> {
  return [
    { head: 'Token', isWide: true, cell: (token) => <Name token={token} /> },
    {
      head: 'Begins with',
      isExtra: true,
      cell: ({ prefix }) => <span class="mono">{prefix === null ? '–' : `${prefix}…`}</span>,
    },
    { head: 'May', cell: ({ scopes }) => (scopes.length === 0 ? 'everything' : scopes.join(', ')) },
    { head: 'Queues', isExtra: true, cell: (token) => <Queues token={token} /> },
    {
      head: 'Rate',
      isExtra: true,
      align: 'end',
      cell: ({ rate_limit: limit }) => (limit === null ? 'Any' : `${limit.requests_per_second}/s`),
    },
    { head: 'Expires', align: 'end', isExtra: true, cell: (token) => <Expiry at={token.expires_at} /> },
    {
      head: 'Last used',
      align: 'end',
      isExtra: true,
      cell: ({ last_used_at: used }) => <Time at={used} absent="Never" />,
    },
    {
      head: 'Revoke',
      align: 'end',
      cell: (token) => (
        <Button look="bare" icon="trash" label={`Revoke ${token.name}`} onClick={() => onRevoke(token)} />
      ),
    },
  ]
}

function Name({ token: { name, description } }: { readonly token: Token }) {
  return (
    <span class="token-name">
      <strong title={name}>{name}</strong>
      {description !== null && (
        <small class="soft" title={visible(description)}>
          <Verbatim text={description} />
        </small>
      )}
    </span>
  )
}

function Queues({ token: { queues } }: { readonly token: Token }) {
  if (queues === null) return <span class="soft">All</span>
  const [first = ''] = queues
  return (
    <span class="token-queues" title={visible(queues.join('\n'))}>
      {queues.length === 1 ? <Verbatim text={first} /> : plural(queues.length, 'queue')}
    </span>
  )
}

/** What ends soon stands out, before the program that uses it fails. */
function Expiry({ at }: { readonly at: string | null }) {
  const nowMs = useNow()
  if (at === null) return <span class="soft">Never</span>
  const leftMs = Date.parse(at) - nowMs
  if (leftMs > SOON_MS) return <Time at={at} />
  return (
    <Badge tone={leftMs <= 0 ? 'bad' : 'warn'}>
      {leftMs <= 0 && 'Expired '}
      <Time at={at} />
    </Badge>
  )
}

function Revoke({ token, onClose }: { readonly token: Token; onClose(): void }) {
  const { kind, subject } = useMe()
  const revoke = useChange((api) => api.deleteToken({ token_id: token.id }), {
    isFaultShown: true,
    said: () => `Token ${token.name} revoked`,
    onDone: onClose,
  })
  return (
    <Confirm title="Revoke a token?" verb="Revoke the token" {...confirming(revoke)} onClose={onClose}>
      <p>
        Requests with <strong class="token-doomed">{token.name}</strong> are refused, and sessions that it
        opened end.
      </p>
      <p>
        {token.last_used_at === null ? (
          'It was never used.'
        ) : (
          <>
            It was last used <Time at={token.last_used_at} />.
          </>
        )}
        {kind === 'token' && subject === token.name && ' You are logged in with it.'}
      </p>
    </Confirm>
  )
}
