import { largestFitting, linesOf, moreText, type Message, type MessageEntry } from './message.ts'
import { escapedExcerpt } from './printable.ts'

/** Slack refuses more than 150. */
const HEADER_CHARACTERS_MAX = 140
/** Slack refuses more than 3,000. */
const SECTION_CHARACTERS_MAX = 2_500
const LINE_CHARACTERS_MAX = 800
/** Slack refuses somewhat over 13,000 in all (`msg_blocks_too_long`), below what it documents. */
const BODY_BYTES_MAX = 12_000
const FALLBACK_CHARACTERS_MAX = 1_500

interface PlainText {
  readonly type: 'plain_text'
  readonly text: string
  readonly emoji: false
}

type Block =
  | { readonly type: 'header' | 'section'; readonly text: PlainText }
  | { readonly type: 'context'; readonly elements: readonly PlainText[] }

/** Characters that would format or mention, and ones that look alike: Slack has no way to escape them. */
const LOOKALIKES: Readonly<Record<string, string>> = {
  '*': '∗',
  '`': 'ˋ',
  '~': '∼',
  '@': '＠',
  '#': '＃',
  '[': '［',
  ']': '］',
  '|': '｜',
  '\\': '＼',
}

/** The body for an incoming webhook of Slack. Texts are `plain_text`, in which Slack looks for no markup. */
export function slackMessage(message: Message): string {
  return largestFitting(
    message,
    (entries, more) =>
      JSON.stringify({
        text: fallbackText(message.title, entries, more),
        mrkdwn: false,
        blocks: blocksOf(message.title, entries, more),
      }),
    (body) => Buffer.byteLength(body) <= BODY_BYTES_MAX,
  )
}

function blocksOf(title: string, entries: readonly MessageEntry[], more: number): readonly Block[] {
  return [
    { type: 'header', text: plain(escapedExcerpt(title, HEADER_CHARACTERS_MAX, escapeEntities)) },
    ...entries.map((entry): Block => ({ type: 'section', text: plain(sectionText(entry)) })),
    ...(more === 0 ? [] : [{ type: 'context' as const, elements: [plain(moreText(more))] }]),
  ]
}

function sectionText(entry: MessageEntry): string {
  const lines: string[] = []
  let room = SECTION_CHARACTERS_MAX
  for (const line of linesOf(entry)) {
    const escaped = escapedExcerpt(line, LINE_CHARACTERS_MAX, escapeEntities)
    room -= escaped.length + 1
    if (room < 0) break
    lines.push(escaped)
  }
  return lines.join('\n')
}

function plain(text: string): PlainText {
  return { type: 'plain_text', text, emoji: false }
}

/** Slack decodes these three entities, and no others, in every kind of text. */
function escapeEntities(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')
}

/** For the notification of a phone, and for services that know no blocks. These read markup in it. */
function fallbackText(title: string, entries: readonly MessageEntry[], more: number): string {
  const lines = [title, ...entries.flatMap(linesOf)].map((line) =>
    escapedExcerpt(line, FALLBACK_CHARACTERS_MAX / 2, escapeMarkup),
  )
  const shown: string[] = []
  let room = FALLBACK_CHARACTERS_MAX
  for (const line of lines) {
    room -= line.length + 1
    if (room < 0) return [...shown, '…'].join('\n')
    shown.push(line)
  }
  return (more === 0 ? shown : [...shown, moreText(more)]).join('\n')
}

function escapeMarkup(text: string): string {
  const inert = text
    .replace(/[*`~@#[\]|\\]/g, (character) => LOOKALIKES[character] ?? character)
    // Within a word these two mean nothing.
    .replace(/(?<![\p{L}\p{N}])_|_(?![\p{L}\p{N}])/gu, '＿')
    .replace(/:(?=\/\/)|(?<![\p{L}\p{N}]):(?=\S)/gu, '：')
    .replace(/^([-+>=!]|[0-9]+[.)])/, '\u2060$1')
  return escapeEntities(inert)
}
