import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto'
import { deflateRawSync, inflateRawSync } from 'node:zlib'
import { readCookie, serializeCookie } from '../sessions/cookie.ts'

/** A cookie whose content only this service can read and write. */
export interface SealedCookie<Content> {
  /** Returns the `Set-Cookie` header. `null` if the content is too long for a cookie. */
  serialize(content: Content): string | null
  /** Reads the content of a `Cookie` header. `null` without a valid cookie. */
  read(header: string | null): Content | null
  /** The `Set-Cookie` header that deletes the cookie. */
  readonly deletion: string
}

const ALGORITHM = 'aes-256-gcm'
const IV_BYTES = 12
const TAG_BYTES = 16
/** Browsers keep cookies of up to 4096 bytes, with name and attributes. */
const MAX_LENGTH = 3800
/** Largest content that is decompressed. */
const MAX_BYTES = 64 * 1024

/**
 * Creates a cookie that is encrypted with a key derived from the secrets of the service. The first
 * secret encrypts; all of them can decrypt. `name` is also part of the key, so that one cookie is
 * never accepted as another.
 */
export function createSealedCookie<Content extends object>(options: {
  readonly name: string
  readonly secrets: readonly string[]
  readonly secure: boolean
  readonly lifetimeSeconds: number
  /** The time, in milliseconds. */
  now(): number
}): SealedCookie<Content> {
  const { secrets, secure, lifetimeSeconds, now } = options
  const name = secure ? `__Host-${options.name}` : options.name
  const keys = secrets.map((secret) =>
    Buffer.from(hkdfSync('sha256', secret, '', `tollgate cookie ${options.name}`, 32)),
  )
  const serialize = (value: string, maxAgeSeconds: number) =>
    serializeCookie({ name, value, maxAgeSeconds, secure })

  return {
    serialize(content) {
      const expires = now() + lifetimeSeconds * 1000
      const value = seal(deflateRawSync(JSON.stringify({ content, expires })), keys[0])
      return value.length > MAX_LENGTH ? null : serialize(value, lifetimeSeconds)
    },
    read(header) {
      const value = readCookie(header, name)
      if (value === null || !/^[\w-]{40,}$/.test(value)) return null
      for (const key of keys) {
        const opened = open(value, key)
        if (!opened) continue
        const { content, expires } = JSON.parse(
          inflateRawSync(opened, { maxOutputLength: MAX_BYTES }).toString('utf8'),
        )
        return now() < expires ? content : null
      }
      return null
    },
    deletion: serialize('', 0),
  }
}

function seal(content: Buffer, key: Buffer | undefined): string {
  if (!key) throw new Error('There is no secret to encrypt with')
  const iv = randomBytes(IV_BYTES)
  const cipher = createCipheriv(ALGORITHM, key, iv)
  const encrypted = Buffer.concat([cipher.update(content), cipher.final()])
  return Buffer.concat([iv, cipher.getAuthTag(), encrypted]).toString('base64url')
}

function open(value: string, key: Buffer): Buffer | null {
  const bytes = Buffer.from(value, 'base64url')
  const iv = bytes.subarray(0, IV_BYTES)
  const tag = bytes.subarray(IV_BYTES, IV_BYTES + TAG_BYTES)
  try {
    const decipher = createDecipheriv(ALGORITHM, key, iv, { authTagLength: TAG_BYTES })
    decipher.setAuthTag(tag)
    const encrypted = bytes.subarray(IV_BYTES + TAG_BYTES)
    return Buffer.concat([decipher.update(encrypted), decipher.final()])
  } catch {
    return null
  }
}
