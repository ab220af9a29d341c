/** The least server that reads a body and answers 201. Argument: port. */
import { createServer } from 'node:http'

const BODY = '{"success":true}'
const HEADERS = ['Content-Type', 'application/json', 'Content-Length', String(BODY.length)]

createServer((request, response) => {
  request.resume()
  request.on('end', () => {
    response.writeHead(201, HEADERS)
    response.end(BODY)
  })
}).listen(Number(process.argv[2]), '127.0.0.1')
process.once('SIGTERM', () => process.exit())
