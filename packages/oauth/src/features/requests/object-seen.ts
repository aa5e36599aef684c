import { CLOCK_SKEW } from '../../clock.ts'
import type { ServerContext } from '../../context.ts'
import { deriveMacKey, equalSecrets, hmac } from '../../crypto.ts'

/** Travels to the sign-in page and back in the return address. */
export const SEEN_MARKER = 'request_seen'

/** A person who takes longer to sign in starts again. */
const LONGEST_SIGN_IN = 60 * 60_000
const SHAPE = /^(\d{1,16})\.([\w-]{43})$/

/** A request object, and what is said of when it was first shown to us. */
export interface SeenObject {
  readonly text: string
  readonly clientId: string
  readonly marker: string | undefined
}

/** Says when this object was shown to us and was valid. It is signed, because only we may say so. */
export function formatSeenMarker(object: SeenObject, at: Date, context: ServerContext): string {
  const [key] = keysOf(context)
  if (!key) throw new Error('There is no secret to sign with')
  const time = String(at.getTime())
  return `${time}.${hmac(key, contentOf(time, object, context))}`
}

/** Null without a marker, and for one that is not ours, of another object, or too old. */
export function readSeenMarker(object: SeenObject, context: ServerContext): Date | null {
  const [, time, given] = SHAPE.exec(object.marker ?? '') ?? []
  if (!time || !given) return null
  const content = contentOf(time, object, context)
  if (!keysOf(context).some((key) => equalSecrets(hmac(key, content), given))) return null
  const age = context.clock.now().getTime() - Number(time)
  return age > LONGEST_SIGN_IN || age < -CLOCK_SKEW ? null : new Date(Number(time))
}

function keysOf({ options }: ServerContext) {
  return options.secrets.map((secret) => deriveMacKey(secret, 'request objects'))
}

function contentOf(time: string, { text, clientId }: SeenObject, { issuer }: ServerContext) {
  return [issuer, time, clientId, text].map((part) => `${part.length}:${part}`).join()
}
