/** Cuts what a Redis client sends into commands. A client sends nothing but arrays of bulk strings. */

const CR_LF = '\r\n'

/**
 * @param onCommand gets the first two words and the command's bytes; false = read no further
 * @returns takes the bytes as they come
 */
export function readCommands(
  onCommand: (words: readonly string[], bytes: Buffer) => boolean,
): (bytes: Buffer) => void {
  let unread: Buffer = Buffer.alloc(0)
  let isOver = false
  return (bytes) => {
    unread = unread.length === 0 ? bytes : Buffer.concat([unread, bytes])
    while (!isOver) {
      const command = firstCommand(unread)
      if (command === null) return
      const taken = unread.subarray(0, command.length)
      unread = unread.subarray(command.length)
      isOver = !onCommand(command.words, taken)
    }
  }
}

function firstCommand(bytes: Buffer): { words: string[]; length: number } | null {
  const count = numberLine(bytes, 0, '*')
  if (count === null) return null
  const words: string[] = []
  let at = count.next
  for (let i = 0; i < count.value; i += 1) {
    const size = numberLine(bytes, at, '$')
    if (size === null) return null
    const end = size.next + size.value
    if (bytes.length < end + CR_LF.length) return null
    if (i < 2) words.push(bytes.toString('latin1', size.next, end))
    at = end + CR_LF.length
  }
  return { words, length: at }
}

function numberLine(bytes: Buffer, at: number, mark: string): { value: number; next: number } | null {
  const end = bytes.indexOf(CR_LF, at)
  if (end === -1) return null
  const line = bytes.toString('latin1', at, end)
  if (!line.startsWith(mark)) throw new Error(`not a command: ${line.slice(0, 20)}`)
  return { value: Number(line.slice(1)), next: end + CR_LF.length }
}
