import type { SigningSecret, SigningSecretList } from '../../../clients/typescript/src/client.ts'
import { itemView, listView } from '../output/view.ts'

export const SECRET_LIST = listView<SigningSecretList, SigningSecret>({
  kind: 'signing-secret',
  items: (list) => list.signing_secrets,
  id: (secret) => secret.id,
  columns: [
    { head: 'SIGNING SECRET', cell: (secret) => secret.id },
    { head: 'NEWEST', cell: (secret) => (secret.is_newest ? 'yes' : 'no') },
    { head: 'CREATED', cell: (secret) => secret.created_at ?? '-' },
  ],
})

/** Prints the value alone on the last line, so that a script finds it. */
export const CREATED_SECRET = itemView<SigningSecret>({
  kind: 'signing-secret',
  id: (secret) => secret.id,
  lines: (secret) => [`signing secret ${secret.id}`, 'It is shown only now:', secret.secret ?? ''],
})
