/** Cuts spaces and tabs at both ends, and nothing else: `String.trim` takes more. */
export function trimmed(line: string, from: number): string {
  let start = from
  let end = line.length
  while (start < end && isBlank(line, start)) start += 1
  while (end > start && isBlank(line, end - 1)) end -= 1
  return line.slice(start, end)
}

export function isBlank(text: string, at: number): boolean {
  const code = text.charCodeAt(at)
  return code === 0x20 || code === 0x09
}
