import { CLOCK_SKEW } from '../clock.ts'
import type { ServerContext } from '../context.ts'
import { deriveMacKey, equalSecrets, hmac } from '../crypto.ts'
import type { Form } from '../http/form.ts'

/** Travels to the sign-in page and back in the return address. */
export const SIGN_IN_MARKER = 'sign_in_asked'

/** Says that the person was asked to sign in as another one. Whoever adds it only gets an error sooner. */
export const OTHER_ACCOUNT = 'other_account'

/** Says that the person was asked for a better sign-in, which is asked for once. */
export const BETTER_SIGN_IN = 'better_sign_in'

/** A person who takes longer is asked once more. */
const LONGEST_SIGN_IN = 60 * 60_000

const SHAPE = /^(\d{1,16})\.([\w-]{43})$/
/** What the marker itself stands for. */
const UNBOUND: readonly string[] = [
  SIGN_IN_MARKER,
  OTHER_ACCOUNT,
  BETTER_SIGN_IN,
  'prompt',
  'max_age',
]

/** Says when the person was sent to sign in for this request. It is signed, because only we may say so. */
export function formatSignInMarker(params: Form, context: ServerContext): string {
  const askedAt = String(context.options.clock.now().getTime())
  const [key] = keysOf(context)
  if (!key) throw new Error('There is no secret to sign with')
  return `${askedAt}.${hmac(key, contentOf(askedAt, params, context))}`
}

/** Null without a marker, and for one that is not ours, of another request, or too old. */
export function readSignInMarker(params: Form, context: ServerContext): Date | null {
  const [, askedAt, given] = SHAPE.exec(params.get(SIGN_IN_MARKER) ?? '') ?? []
  if (!askedAt || !given) return null
  const content = contentOf(askedAt, params, context)
  if (!keysOf(context).some((key) => equalSecrets(hmac(key, content), given))) return null
  const age = context.options.clock.now().getTime() - Number(askedAt)
  return age > LONGEST_SIGN_IN || age < -CLOCK_SKEW ? null : new Date(Number(askedAt))
}

function keysOf({ options }: ServerContext) {
  return options.secrets.map((secret) => deriveMacKey(secret, 'sign-in requests'))
}

/** Unmistakable: each text stands with its length. */
function contentOf(askedAt: string, params: Form, { options }: ServerContext): string {
  const bound = [...params].filter(([name]) => !UNBOUND.includes(name)).sort(byName)
  return [options.issuer, askedAt, ...bound.flat()].map((text) => `${text.length}:${text}`).join()
}

function byName([left]: readonly [string, string], [right]: readonly [string, string]): number {
  return left < right ? -1 : 1
}
