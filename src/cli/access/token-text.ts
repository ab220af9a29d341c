import type { Token, TokenList } from '../../../clients/typescript/src/client.ts'
import { itemView, listView } from '../output/view.ts'

export const TOKEN_LIST = listView<TokenList, Token>({
  kind: 'token',
  items: (list) => list.tokens,
  id: (token) => token.id,
  columns: [
    { head: 'TOKEN', cell: (token) => token.id, isMain: true },
    { head: 'PREFIX', cell: (token) => token.prefix ?? '-' },
    { head: 'SCOPES', cell: scopesText },
    { head: 'QUEUES', cell: queuesText },
    { head: 'EXPIRES', cell: (token) => token.expires_at ?? 'never' },
    { head: 'LAST USED', cell: (token) => token.last_used_at ?? 'never' },
    { head: 'RATE', cell: rateText, isWide: true },
    { head: 'DESCRIPTION', cell: (token) => token.description ?? '', isWide: true },
  ],
})

/** Prints the token alone on the last line, so that a script finds it. */
export const CREATED_TOKEN = itemView<Token>({
  kind: 'token',
  id: (token) => token.id,
  lines: (token) => [
    `token ${token.id}  scopes ${scopesText(token)}  queues ${queuesText(token)}  expires ${token.expires_at ?? 'never'}`,
    'It is shown only now:',
    token.token ?? '',
  ],
})

function scopesText({ scopes }: Token): string {
  return scopes.length === 0 ? 'all' : scopes.join(',')
}

function queuesText({ queues }: Token): string {
  return queues === null ? 'all' : queues.join(',')
}

function rateText({ rate_limit: rate }: Token): string {
  return rate === null ? '-' : `${rate.requests_per_second}/s, burst ${rate.burst}`
}
