import { generateKeyPairSync, sign } from 'node:crypto'

export interface Certificate {
  /** The private key as PEM. */
  readonly key: string
  readonly cert: string
}

/** Creates a self-signed certificate for these names and addresses. Node has no API for that. */
export function createCertificate(
  names: readonly string[],
  addresses: readonly string[] = [],
  /** If several trusted certificates have the same name, only one of them is found. */
  called = 'Test',
): Certificate {
  const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const algorithm = sequence(objectId('2a8648ce3d040302'))
  const name = sequence(
    tagged(0x31, sequence(objectId('550403'), tagged(0x0c, Buffer.from(called)))),
  )
  const year = new Date().getUTCFullYear()
  const validity = sequence(
    ...[year - 1, year + 1].map((each) => tagged(0x18, ascii(`${each}0101000000Z`))),
  )
  const alternatives = sequence(
    ...names.map((each) => tagged(0x82, ascii(each))),
    ...addresses.map((each) => tagged(0x87, Buffer.from(each.split('.').map(Number)))),
  )
  const isAuthority = sequence(tagged(0x01, Buffer.from([0xff])))
  const extensions = tagged(
    0xa3,
    sequence(extension('551d13', isAuthority), extension('551d11', alternatives)),
  )
  const content = sequence(
    tagged(0xa0, tagged(0x02, Buffer.from([2]))),
    tagged(0x02, Buffer.from([1])),
    algorithm,
    name,
    validity,
    name,
    publicKey.export({ type: 'spki', format: 'der' }),
    extensions,
  )
  const signature = Buffer.concat([Buffer.from([0]), sign('sha256', content, privateKey)])
  const whole = sequence(content, algorithm, tagged(0x03, signature))
  const lines = whole.toString('base64').match(/.{1,64}/g) ?? []
  return {
    key: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
    cert: ['-----BEGIN CERTIFICATE-----', ...lines, '-----END CERTIFICATE-----', ''].join('\n'),
  }
}

const ascii = (text: string) => Buffer.from(text, 'latin1')
const objectId = (hex: string) => tagged(0x06, Buffer.from(hex, 'hex'))
const sequence = (...parts: readonly Buffer[]) => tagged(0x30, Buffer.concat(parts))
const extension = (id: string, value: Buffer) => sequence(objectId(id), tagged(0x04, value))

/** Encodes DER: tag, length, content. */
function tagged(tag: number, content: Buffer): Buffer {
  const { length } = content
  const size =
    length < 128 ? [length] : length < 256 ? [0x81, length] : [0x82, length >> 8, length & 0xff]
  return Buffer.concat([Buffer.from([tag, ...size]), content])
}
