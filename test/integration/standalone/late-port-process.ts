/** Loaded before a program by `--import`: the server of the port LATE_PORT listens once LATE_PORT_UNTIL has answered. */
import { Server } from 'node:net'

const { LATE_PORT = '', LATE_PORT_UNTIL = '' } = process.env
const listen = Server.prototype.listen as (...given: unknown[]) => Server

Server.prototype.listen = function listenLate(this: Server, ...given: unknown[]): Server {
  const [options] = given as [{ readonly port?: number }]
  if (options.port !== Number(LATE_PORT)) return listen.apply(this, given)
  void fetch(LATE_PORT_UNTIL).then(() => listen.apply(this, given))
  return this
}
