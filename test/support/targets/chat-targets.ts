/** Stand-ins for Slack and Discord: they refuse what the real ones refuse, and answer as they do. */
import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { until } from '../until.ts'

export interface ChatAnswer {
  readonly status: number
  readonly headers?: Readonly<Record<string, string>>
  readonly body: string
}

export interface ChatPost {
  readonly path: string
  readonly query: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
  readonly answer: ChatAnswer
}

export interface ChatTarget {
  /** The URL of the one webhook there is. */
  readonly url: string
  /** Everything that came, refused or not. */
  readonly posts: () => readonly ChatPost[]
  /** The bodies that were accepted, parsed. */
  readonly messages: () => ReadonlyArray<Readonly<Record<string, unknown>>>
  /** Resolves when so many messages were accepted. */
  accepted(count: number, timeoutMs?: number): Promise<void>
  /** The next posts get these answers, in their order; one that is a promise is awaited. */
  answerNext(...answers: ReadonlyArray<ChatAnswer | Promise<ChatAnswer>>): void
  close(): Promise<void>
}

type Judge = (post: { readonly path: string; readonly query: string; readonly body: string }) => ChatAnswer

const SLACK_PATH = '/services/T0000000/B0000000/slackSECRETslackSECRET'
const DISCORD_PATH = '/api/webhooks/123456789012345678/discordSECRETdiscordSECRET'

const SLACK_OK: ChatAnswer = { status: 200, body: 'ok' }
export const SLACK_LIMITED: ChatAnswer = {
  status: 429,
  headers: { 'retry-after': '30' },
  body: 'rate_limited',
}
export const DISCORD_LIMITED: ChatAnswer = {
  status: 429,
  headers: { 'retry-after': '1', 'x-ratelimit-reset-after': '0.75', 'content-type': 'application/json' },
  body: JSON.stringify({ message: 'You are being rate limited.', retry_after: 0.75, global: false }),
}

export function startSlack(): Promise<ChatTarget> {
  return startChatTarget(SLACK_PATH, ({ path, body }) => {
    if (path !== SLACK_PATH) return { status: 404, body: 'no_service' }
    const problem = slackProblem(body)
    return problem === null ? SLACK_OK : { status: 400, body: problem }
  })
}

export function startDiscord(): Promise<ChatTarget> {
  return startChatTarget(DISCORD_PATH, ({ path, query, body }) => {
    if (!path.startsWith('/api/webhooks/123456789012345678/')) {
      return discordError(404, 10_015, 'Unknown Webhook')
    }
    if (path !== DISCORD_PATH) return discordError(401, 50_027, 'Invalid Webhook Token')
    const problem = discordProblem(body)
    if (problem !== null) return problem
    const isWaiting = new URLSearchParams(query).get('wait') === 'true'
    return isWaiting ? { status: 200, body: JSON.stringify({ id: '1' }) } : { status: 204, body: '' }
  })
}

/** What Slack answers to a body it refuses; null if it takes it. */
export function slackProblem(body: string): string | null {
  const message = objectOf(body)
  if (message === null) return 'invalid_payload'
  const { text, blocks = [] } = message
  if (!Array.isArray(blocks)) return 'invalid_blocks_format'
  if (blocks.length === 0 && (typeof text !== 'string' || text === '')) return 'no_text'
  if (blocks.length > 50 || !blocks.every(isSlackBlock)) return 'invalid_blocks'
  // Counted in bytes, which is stricter than what was seen.
  return Buffer.byteLength(body) > 13_000 ? 'msg_blocks_too_long' : null
}

function isSlackBlock(block: unknown): boolean {
  const { type, text, elements } = block as Record<string, unknown>
  switch (type) {
    case 'header':
      return isSlackText(text, 150) && (text as { type: string }).type === 'plain_text'
    case 'section':
      return isSlackText(text, 3_000)
    case 'context':
      return (
        Array.isArray(elements) && elements.length <= 10 && elements.every((one) => isSlackText(one, 2_000))
      )
    default:
      return false
  }
}

function isSlackText(value: unknown, charactersMax: number): boolean {
  if (typeof value !== 'object' || value === null) return false
  const { type, text } = value as Record<string, unknown>
  const isKnown = type === 'plain_text' || type === 'mrkdwn'
  return isKnown && typeof text === 'string' && text.length > 0 && text.length <= charactersMax
}

/** What Discord answers to a body it refuses; null if it takes it. */
export function discordProblem(body: string): ChatAnswer | null {
  const message = objectOf(body)
  if (message === null) return discordError(400, 50_109, 'The request body contains invalid JSON.')
  const { content = '', embeds = [] } = message
  if (typeof content !== 'string' || !Array.isArray(embeds)) {
    return discordError(400, 50_035, 'Invalid Form Body')
  }
  if (content === '' && embeds.length === 0) return discordError(400, 50_006, 'Cannot send an empty message')
  const texts = embeds.map((embed: Record<string, unknown>) => [embed['title'], embed['description']])
  const isWithin =
    content.length <= 2_000 &&
    embeds.length <= 10 &&
    texts.every(([title, description]) => lengthOf(title) <= 256 && lengthOf(description) <= 4_096) &&
    texts.flat().reduce((sum: number, text) => sum + lengthOf(text), 0) <= 6_000
  return isWithin ? null : discordError(400, 50_035, 'Invalid Form Body')
}

function lengthOf(text: unknown): number {
  return typeof text === 'string' ? text.length : 0
}

function discordError(status: number, code: number, message: string): ChatAnswer {
  return {
    status,
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ message, code }),
  }
}

function objectOf(body: string): Record<string, unknown> | null {
  try {
    const value: unknown = JSON.parse(body)
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : null
  } catch {
    return null
  }
}

async function startChatTarget(webhookPath: string, judge: Judge): Promise<ChatTarget> {
  const posts: ChatPost[] = []
  const planned: Array<ChatAnswer | Promise<ChatAnswer>> = []
  const accepted = () => posts.filter(({ answer }) => answer.status < 300)

  async function serve(request: IncomingMessage): Promise<ChatAnswer> {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk as Buffer)
    const { pathname: path, search: query } = new URL(request.url ?? '/', 'http://chat')
    const body = Buffer.concat(chunks).toString('utf8')
    const answer = (await planned.shift()) ?? judge({ path, query, body })
    posts.push({ path, query, headers: request.headers as Record<string, string>, body, answer })
    return answer
  }

  const server = createServer((request, response) => {
    serve(request).then(
      (answer) => response.writeHead(answer.status, answer.headers).end(answer.body),
      () => response.destroy(),
    )
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}${webhookPath}`,
    posts: () => posts,
    messages: () => accepted().map(({ body }) => objectOf(body) ?? {}),
    accepted: async (count, timeoutMs) => {
      await until(`${count} accepted messages`, () => accepted().length >= count, timeoutMs)
    },
    answerNext: (...answers) => {
      planned.push(...answers)
    },
    close: async () => {
      const closed = new Promise((resolve) => server.close(resolve))
      server.closeAllConnections()
      await closed
    },
  }
}
