/** All addresses of this machine, of each family that it has. */
export const ALL_ADDRESSES = '*'

/**
 * Options for node:net, which without a host listens on `::` for both families, or on `0.0.0.0` where there is no IPv6.
 */
export function listenOptions(port: number, host: string): { readonly port: number; readonly host?: string } {
  return host === ALL_ADDRESSES ? { port } : { port, host }
}

/** Why a port could not be opened and what to do, as a sentence. @param variable the setting of the port */
export function listenFailure(
  fault: { readonly code?: string; readonly message: string },
  { host, port, variable }: { readonly host: string; readonly port: number; readonly variable: string },
): string {
  switch (fault.code) {
    case 'EADDRINUSE':
      return `Port ${port} on ${host} is taken: stop what listens there, or set ${variable} to another.`
    case 'EADDRNOTAVAIL':
      return `${host} is not an address of this machine: set PUNCTUAL_HOST.`
    case 'EACCES':
      return `Port ${port} needs more rights: set ${variable} to one above 1023.`
    default:
      return `${host}:${port} (${variable}) cannot be listened on: ${fault.message}`
  }
}
