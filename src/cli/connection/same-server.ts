/** All names of this machine's own interface; a server that listens on one of them is reached by the others too. */
const LOOPBACK = /^(?:localhost|127\.0\.0\.1|\[::1\])$/

/** Tells whether two addresses lead to the same server, also under another name of the loopback interface. */
export function isSameServer(one: string, other: string): boolean {
  const [first, second] = [URL.parse(one), URL.parse(other)]
  if (first === null || second === null) return false
  if (first.protocol !== second.protocol || first.port !== second.port) return false
  if (first.hostname === second.hostname) return true
  return LOOPBACK.test(first.hostname) && LOOPBACK.test(second.hostname)
}
