import { CLOCK_SKEW_MS } from '../clock.ts'
import type { ServerContext } from '../context.ts'
import { areSecretsEqual, computeHmac, deriveMacKey } from '../crypto.ts'

/** The request that a signed time belongs to. The signed time is invalid for any other request. */
export interface TimedRequest {
  /** Purpose of the key that signs the time. Each purpose has its own key. */
  readonly purpose: 'sign-in requests' | 'request objects'
  readonly parts: readonly string[]
}

/**
 * Longest time, in milliseconds, that a person may take to sign in. After that, the person is asked
 * to sign in again, or has to start the request anew.
 */
const MAX_SIGN_IN_TIME = 60 * 60_000
const SHAPE = /^(\d{1,16})\.([\w-]{43})$/

/**
 * Signs the time at which a request arrived. The time is then passed through the browser, which
 * must not be able to change it.
 */
export function signRequestTime(at: Date, request: TimedRequest, context: ServerContext): string {
  const [key] = deriveSigningKeys(request, context)
  if (!key) throw new Error('There is no secret to sign with')
  const time = String(at.getTime())
  return `${time}.${computeHmac(key, buildSignedText(time, request, context))}`
}

/**
 * Verifies and reads a signed time. Returns `null` if it is missing, forged, too old, or signed for
 * another request.
 */
export function readSignedTime(
  text: string | undefined,
  request: TimedRequest,
  context: ServerContext,
): Date | null {
  const [, time, given] = SHAPE.exec(text ?? '') ?? []
  if (!time || !given) return null
  const content = buildSignedText(time, request, context)
  if (
    !deriveSigningKeys(request, context).some((key) =>
      areSecretsEqual(computeHmac(key, content), given),
    )
  )
    return null
  const age = context.clock.now().getTime() - Number(time)
  return age > MAX_SIGN_IN_TIME || age < -CLOCK_SKEW_MS ? null : new Date(Number(time))
}

function deriveSigningKeys({ purpose }: TimedRequest, { options }: ServerContext) {
  return options.secrets.map((secret) => deriveMacKey(secret, purpose))
}

/** Returns the text to sign. The length before each part makes it unambiguous. */
function buildSignedText(time: string, { parts }: TimedRequest, { issuer }: ServerContext): string {
  return [issuer, time, ...parts].map((text) => `${text.length}:${text}`).join()
}
