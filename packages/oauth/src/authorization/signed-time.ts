import { CLOCK_SKEW } from '../clock.ts'
import type { ServerContext } from '../context.ts'
import { deriveMacKey, equalSecrets, hmac } from '../crypto.ts'

/** The request that a signed time belongs to. It is invalid for any other. */
export interface TimedRequest {
  /** Purpose of the key that signs. */
  readonly purpose: 'sign-in requests' | 'request objects'
  readonly parts: readonly string[]
}

/** A person who takes longer to sign in is asked again, or has to start anew. */
const MAX_SIGN_IN_TIME = 60 * 60_000
const SHAPE = /^(\d{1,16})\.([\w-]{43})$/

/** Signs the time at which a request arrived, because it is passed through the browser. */
export function signTime(at: Date, request: TimedRequest, context: ServerContext): string {
  const [key] = keysOf(request, context)
  if (!key) throw new Error('There is no secret to sign with')
  const time = String(at.getTime())
  return `${time}.${hmac(key, contentOf(time, request, context))}`
}

/** Reads a signed time. Returns `null` if it is missing, forged, for another request or too old. */
export function readSignedTime(
  text: string | undefined,
  request: TimedRequest,
  context: ServerContext,
): Date | null {
  const [, time, given] = SHAPE.exec(text ?? '') ?? []
  if (!time || !given) return null
  const content = contentOf(time, request, context)
  if (!keysOf(request, context).some((key) => equalSecrets(hmac(key, content), given))) return null
  const age = context.clock.now().getTime() - Number(time)
  return age > MAX_SIGN_IN_TIME || age < -CLOCK_SKEW ? null : new Date(Number(time))
}

function keysOf({ purpose }: TimedRequest, { options }: ServerContext) {
  return options.secrets.map((secret) => deriveMacKey(secret, purpose))
}

/** Returns the text to sign. The length before each part makes it unambiguous. */
function contentOf(time: string, { parts }: TimedRequest, { issuer }: ServerContext): string {
  return [issuer, time, ...parts].map((text) => `${text.length}:${text}`).join()
}
