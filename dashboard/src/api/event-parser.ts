export interface ServerEvent {
  readonly name: string
  readonly data: string
}

/** An event that is longer is dropped: the server sends none, and memory must stay bounded. */
const EVENT_CHARACTERS_MAX = 64 * 1024

/** Finds the events in pieces of a stream, which may be cut anywhere. What is no event is left out, such as heartbeats. */
export function createEventParser(onEvent: (event: ServerEvent) => void): (piece: string) => void {
  let left = ''
  return (piece) => {
    const blocks = (left + piece).replaceAll('\r\n', '\n').split('\n\n')
    left = blocks.pop() ?? ''
    if (left.length > EVENT_CHARACTERS_MAX) left = ''
    for (const block of blocks) {
      const event = eventIn(block)
      if (event !== null) onEvent(event)
    }
  }
}

function eventIn(block: string): ServerEvent | null {
  let name = 'message'
  const data: string[] = []
  for (const line of block.split('\n')) {
    const [, field, value = ''] = /^(\w+): ?(.*)$/.exec(line) ?? []
    if (field === 'event') name = value
    else if (field === 'data') data.push(value)
  }
  return data.length === 0 ? null : { name, data: data.join('\n') }
}
