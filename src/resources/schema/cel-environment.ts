import { Environment } from '@marcbachmann/cel-js'
import { parseIpAddress, type IpAddress } from '../../domain/net/ip-address.ts'

/** This is a class because the evaluator recognizes its types by their constructor. */
class CidrBlock {
  readonly address: IpAddress
  readonly prefix: number
  constructor(address: IpAddress, prefix: number) {
    this.address = address
    this.prefix = prefix
  }
}

/**
 * Makes the evaluator of the rules in `crds/`: CEL with those functions of Kubernetes that our rules use. A test finds
 * rules that call any other function, which would work in a cluster only.
 */
export function createCelEnvironment(): Environment {
  return (
    new Environment()
      .registerVariable('self', 'dyn')
      .registerVariable('oldSelf', 'dyn')
      .registerType('net.CIDR', { ctor: CidrBlock, fields: {} })
      .registerFunction('isIP(string): bool', (text: string) => readAddress(text) !== null)
      .registerFunction('isCIDR(string): bool', (text: string) => readBlock(text) !== null)
      .registerFunction('cidr(string): net.CIDR', (text: string) => {
        const block = readBlock(text)
        if (block === null) throw new Error(`not a CIDR block: ${text}`)
        return block
      })
      // JavaScript agrees with the API server's RE2 on the patterns of our rules.
      .registerFunction('string.find(string): string', (text: string, pattern: string) => {
        return new RegExp(pattern).exec(text)?.[0] ?? ''
      })
      .registerFunction('net.CIDR.masked(): net.CIDR', masked)
      .registerOperator('net.CIDR == net.CIDR', isSameBlock)
  )
}

/** Kubernetes accepts neither zones nor IPv4-mapped IPv6 addresses. */
function readAddress(text: string): IpAddress | null {
  const address = parseIpAddress(text)
  return address?.family === 6 && address.value >> 32n === 0xffffn ? null : address
}

function readBlock(text: string): CidrBlock | null {
  const [addressText = '', prefixText = '', ...rest] = text.split('/')
  const address = readAddress(addressText)
  if (address === null || rest.length > 0 || !/^(?:0|[1-9][0-9]{0,2})$/.test(prefixText)) return null
  const prefix = Number(prefixText)
  return prefix <= widthOf(address) ? new CidrBlock(address, prefix) : null
}

function masked({ address, prefix }: CidrBlock): CidrBlock {
  const hostBits = BigInt(widthOf(address) - prefix)
  return new CidrBlock({ ...address, value: (address.value >> hostBits) << hostBits }, prefix)
}

function isSameBlock(left: CidrBlock, right: CidrBlock): boolean {
  const isSameAddress =
    left.address.family === right.address.family && left.address.value === right.address.value
  return isSameAddress && left.prefix === right.prefix
}

function widthOf(address: IpAddress): number {
  return address.family === 4 ? 32 : 128
}
