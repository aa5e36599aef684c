import { createHmac } from 'node:crypto'

const PREFIX = 'whsec_'
/** Standard Webhooks, "Symmetric": in bytes. */
const SHORTEST = 24
const LONGEST = 64

/** Whether this may be the secret of an endpoint: `whsec_` and 24 to 64 bytes in base64. */
export function isDeliverySecret(secret: string): boolean {
  return findKey(secret) !== null
}

/** The bytes behind `whsec_…`. A TypeError names the option and never the secret. */
export function parseKey(option: string, secret: string): Buffer {
  const key = findKey(secret)
  if (key) return key
  throw new TypeError(
    `${option}: expected ${PREFIX} and ${SHORTEST} to ${LONGEST} bytes in base64, as "whsec_$(openssl rand -base64 32)" gives.`,
  )
}

function findKey(secret: string): Buffer | null {
  const text = secret.startsWith(PREFIX) ? secret.slice(PREFIX.length) : ''
  const key = Buffer.from(text, 'base64')
  // Node passes over what is no base64: a secret that was cut or misspelt would sign, and nobody could verify it.
  const isWhole = key.toString('base64').replace(/=+$/, '') === text.replace(/=+$/, '')
  return isWhole && key.length >= SHORTEST && key.length <= LONGEST ? key : null
}

/** Standard Webhooks 1.0: id, moment of this attempt, and a signature over both and the body for each key. */
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
