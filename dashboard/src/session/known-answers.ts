/** What a page reads again and again; the oldest goes. */
const ANSWERS_MAX = 30
/** Of one that is kept: the largest page of jobs has some 4 MB. */
const BYTES_MAX = 512 * 1024

interface KnownAnswer {
  readonly tag: string
  readonly body: Blob
  readonly headers: Headers
}

/**
 * A `fetch` that names the entity tag of what it read before, so that what has not changed costs an empty answer. The
 * browser's own cache would do so too, but would write what may be secret to a disk.
 */
export function createKnownAnswers(send: typeof fetch): typeof fetch {
  const known = new Map<string, KnownAnswer>()
  return async (target, init = {}) => {
    const address = target instanceof Request ? target.url : target.toString()
    const isRead = (init.method ?? 'GET') === 'GET'
    const before = isRead ? known.get(address) : undefined
    const headers = new Headers(init.headers)
    if (before !== undefined) headers.set('if-none-match', before.tag)
    const answer = await send(target, { ...init, headers })
    if (answer.status === 304 && before !== undefined) {
      return new Response(before.body, { headers: before.headers })
    }
    known.delete(address)
    const tag = answer.headers.get('etag')
    // A tag of settings is for edits, and is not a weak one.
    if (!isRead || answer.status !== 200 || tag?.startsWith('W/') !== true) return answer
    const body = await answer.blob()
    if (body.size <= BYTES_MAX) known.set(address, { tag, body, headers: answer.headers })
    for (const oldest of known.keys()) {
      if (known.size <= ANSWERS_MAX) break
      known.delete(oldest)
    }
    return new Response(body, { headers: answer.headers })
  }
}
