/** Why a port could not be opened, in a sentence that mends it. @param variable the setting of the port */
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
