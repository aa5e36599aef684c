import { verifyForeign } from '../../crypto.ts'
import { type ProofKey, type ProofKeys, parseObject } from './proof-key.ts'

/** RFC 9449 §4.2. */
export interface Proof {
  readonly jti: string
  readonly method: string
  readonly url: string
  /** In milliseconds. */
  readonly madeAt: number
  /** Of the access token that it goes with. */
  readonly tokenHash: string | null
  readonly nonce: string | null
  readonly thumbprint: string
  /** Whether the key that it names has signed it. Asked last, because it costs more than all the rest. */
  isGenuine(): boolean
}

const SHAPE = /^([\w-]+)\.([\w-]+)\.([\w-]+)$/
/** A proof by an RSA key of 4096 bits has two thousand characters. */
const LONGEST_PROOF = 8 * 1024
const LONGEST_TEXT = 2048

/** Null unless it looks like a proof, has all it needs, and names a key we take. */
export function readProof(text: string, keys: ProofKeys): Proof | null {
  if (text.length > LONGEST_PROOF) return null
  const [, header, payload, signature] = SHAPE.exec(text) ?? []
  if (!header || !payload || !signature) return null
  const key = keys.read(header)
  const claims = key && parseObject(payload)
  if (!claims) return null
  const { jti, htm, htu, iat, ath, nonce } = claims
  if (!isText(jti) || !isText(htm) || !isText(htu)) return null
  if (typeof iat !== 'number' || !Number.isFinite(iat)) return null
  if (ath !== undefined && !isText(ath)) return null
  if (nonce !== undefined && !isText(nonce)) return null
  return {
    jti,
    method: htm,
    url: htu,
    madeAt: iat * 1000,
    tokenHash: ath ?? null,
    nonce: nonce ?? null,
    thumbprint: key.thumbprint,
    isGenuine() {
      const isSigned = verifySignature(key, `${header}.${payload}`, signature)
      if (isSigned) keys.remember(header, key)
      return isSigned
    },
  }
}

function isText(value: unknown): value is string {
  return typeof value === 'string' && value !== '' && value.length <= LONGEST_TEXT
}

function verifySignature({ algorithm, key }: ProofKey, data: string, signature: string): boolean {
  return verifyForeign(algorithm, key, data, Buffer.from(signature, 'base64url'))
}
