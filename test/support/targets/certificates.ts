import { execFileSync } from 'node:child_process'

export interface Certificate {
  /** PEM. */
  readonly key: string
  readonly cert: string
}

/** A certificate for 127.0.0.1 that is its own authority. */
export function selfSignedCertificate(name = 'localhost'): Certificate {
  const given = `req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 -keyout - -out -`
  const extensions = ['-addext', 'subjectAltName=IP:127.0.0.1,DNS:localhost']
  const pem = execFileSync('openssl', [...given.split(' '), '-subj', `/CN=${name}`, ...extensions], {
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'ignore'],
  })
  const at = pem.indexOf('-----BEGIN CERTIFICATE-----')
  return { key: pem.slice(0, at), cert: pem.slice(at) }
}
