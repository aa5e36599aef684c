import { createHmac } from 'node:crypto'

const PREFIX = 'whsec_'
/** Limits of Standard Webhooks for symmetric keys, in bytes. */
const MIN_KEY_BYTES = 24
const MAX_KEY_BYTES = 64

/**
 * Whether a text is a valid secret for signing webhooks: `whsec_` followed by 24 to 64 bytes in
 * base64.
 */
export function isDeliverySecret(secret: string): boolean {
  return findKey(secret) !== null
}

/**
 * Decodes a secret for signing webhooks (`whsec_…`) to its bytes.
 * @throws TypeError if the secret is invalid. The message names the option, and never the secret.
 */
export function parseDeliverySecret(option: string, secret: string): Buffer {
  const key = findKey(secret)
  if (key) return key
  throw new TypeError(
    `${option}: expected ${PREFIX} followed by ${MIN_KEY_BYTES} to ${MAX_KEY_BYTES} bytes in base64, as in "whsec_$(openssl rand -base64 32)".`,
  )
}

function findKey(secret: string): Buffer | null {
  const text = secret.startsWith(PREFIX) ? secret.slice(PREFIX.length) : ''
  const key = Buffer.from(text, 'base64')
  // Node skips invalid base64 characters: a cut or misspelt secret would sign, and the receiver
  // could not verify it.
  const isWhole = key.toString('base64').replace(/=+$/, '') === text.replace(/=+$/, '')
  return isWhole && key.length >= MIN_KEY_BYTES && key.length <= MAX_KEY_BYTES ? key : null
}

/**
 * Returns the headers of a signed webhook as specified by Standard Webhooks 1.0: the id, the time
 * of this attempt, and for each key a signature of id, time and body.
 */
export function signDelivery(
  keys: readonly Buffer[],
  { id, body }: { readonly id: string; readonly body: string },
  at: Date,
): Record<string, string> {
  const timestamp = String(Math.floor(at.getTime() / 1000))
  const signatures = keys.map((key) => {
    const digest = createHmac('sha256', key).update(`${id}.${timestamp}.${body}`).digest('base64')
    return `v1,${digest}`
  })
  return {
    'webhook-id': id,
    'webhook-timestamp': timestamp,
    'webhook-signature': signatures.join(' '),
  }
}
