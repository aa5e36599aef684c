import { createHash, createSign, generateKeyPairSync, randomBytes } from 'node:crypto'

type Cbor = number | string | Uint8Array | Map<number | string, Cbor>

/** Encodes the small part of CBOR that WebAuthn needs. */
function encodeCbor(value: Cbor): Buffer {
  const head = (major: number, length: number) =>
    length < 24
      ? Buffer.from([(major << 5) | length])
      : length < 256
        ? Buffer.from([(major << 5) | 24, length])
        : Buffer.from([(major << 5) | 25, length >> 8, length & 255])
  if (typeof value === 'number') return value >= 0 ? head(0, value) : head(1, -1 - value)
  if (typeof value === 'string') return Buffer.concat([head(3, value.length), Buffer.from(value)])
  if (value instanceof Uint8Array) return Buffer.concat([head(2, value.length), value])
  const entries = [...value].flatMap(([key, each]) => [encodeCbor(key), encodeCbor(each)])
  return Buffer.concat([head(5, value.size), ...entries])
}

export interface SoftOptions {
  readonly origin: string
  /** @default the host name of the origin */
  readonly rpId?: string
  readonly challenge: string
  /** The signature counter. @default 0 */
  readonly counter?: number
  /** Whether the authenticator claims to have verified the person. @default true */
  readonly isVerified?: boolean
  /** Type in the client data. @default that of the ceremony */
  readonly type?: string
  readonly userHandle?: string
}

/** An authenticator in software, which can also lie. Returns responses as a browser sends them. */
export function createSoftAuthenticator() {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const { x = '', y = '' } = publicKey.export({ format: 'jwk' })
  const id = randomBytes(32)
  const cose = new Map<number, Cbor>([
    [1, 2],
    [3, -7],
    [-1, 1],
    [-2, Buffer.from(x, 'base64url')],
    [-3, Buffer.from(y, 'base64url')],
  ])
  const credentialId = id.toString('base64url')

  function authenticatorData(options: SoftOptions, attested: Uint8Array = Buffer.alloc(0)) {
    const { origin, rpId = new URL(origin).hostname, counter = 0, isVerified = true } = options
    const flags = 0x01 | (isVerified ? 0x04 : 0) | (attested.length > 0 ? 0x40 : 0)
    const numbers = Buffer.alloc(5)
    numbers.writeUInt8(flags)
    numbers.writeUInt32BE(counter, 1)
    return Buffer.concat([createHash('sha256').update(rpId).digest(), numbers, attested])
  }

  const clientData = ({ origin, challenge, type }: SoftOptions, normal: string) =>
    Buffer.from(JSON.stringify({ type: type ?? normal, challenge, origin, crossOrigin: false }))

  return {
    credentialId,
    create(options: SoftOptions): string {
      const length = Buffer.alloc(2)
      length.writeUInt16BE(id.length)
      const attested = Buffer.concat([Buffer.alloc(16), length, id, encodeCbor(cose)])
      const attestation = new Map<string, Cbor>([
        ['fmt', 'none'],
        ['attStmt', new Map()],
        ['authData', authenticatorData(options, attested)],
      ])
      return JSON.stringify({
        id: credentialId,
        rawId: credentialId,
        type: 'public-key',
        response: {
          clientDataJSON: clientData(options, 'webauthn.create').toString('base64url'),
          attestationObject: encodeCbor(attestation).toString('base64url'),
          transports: ['internal'],
        },
      })
    },
    get(options: SoftOptions): string {
      const data = authenticatorData(options)
      const client = clientData(options, 'webauthn.get')
      const hash = createHash('sha256').update(client).digest()
      const signature = createSign('sha256').update(data).update(hash).sign(privateKey)
      return JSON.stringify({
        id: credentialId,
        rawId: credentialId,
        type: 'public-key',
        response: {
          clientDataJSON: client.toString('base64url'),
          authenticatorData: data.toString('base64url'),
          signature: signature.toString('base64url'),
          ...(options.userHandle !== undefined && {
            userHandle: Buffer.from(options.userHandle).toString('base64url'),
          }),
        },
      })
    },
  }
}
