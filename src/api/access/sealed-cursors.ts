import type { Principal } from '../../domain/access/principal.ts'

/** Makes texts unreadable to clients, the same way in every process of an installation. */
export interface CursorBox {
  /** @returns what may stand in a URL as it is */
  seal(text: string): string
  /** Throws when it did not seal the text. */
  open(sealed: string): string
  /** The same for the same text; says nothing of it to who has not the key, not even whether a guess is right. */
  digest(text: string): string
}

/**
 * A page for a principal: to one that is limited to queues its cursor is sealed, since it names what was looked at last,
 * which may be none of its own.
 */
export async function sealedPage<
  Query extends { readonly cursor: string | null },
  Page extends { readonly nextCursor: string | null },
>(
  { principal, box }: { readonly principal: Principal; readonly box: CursorBox },
  query: Query,
  list: (query: Query) => Promise<Page | 'bad_cursor'>,
): Promise<Page | 'bad_cursor'> {
  if (principal.queues === null) return list(query)
  const cursor = query.cursor === null ? null : opened(box, query.cursor)
  if (cursor === null && query.cursor !== null) return 'bad_cursor'
  const page = await list({ ...query, cursor })
  if (page === 'bad_cursor' || page.nextCursor === null) return page
  return { ...page, nextCursor: box.seal(page.nextCursor) }
}

/** null = no cursor of ours. */
function opened(box: CursorBox, cursor: string): string | null {
  try {
    return box.open(cursor)
  } catch {
    return null
  }
}
