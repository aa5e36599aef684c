import { hashSubscriptionName } from '../../core/values/subscription-name.ts'

/**
 * Derives an id for an object at Braintree from the operation, so that a retry finds what the first
 * attempt created.
 */
export function deriveOperationObjectId(operation: string): string {
  return `tg-${operation}`
}

/**
 * Derives the id of a subscription. It also encodes the subscription's name, because Braintree
 * stores no other data of ours. An id has at most 36 characters: 19 encode the operation; the rest
 * is the name if it is short and plain, otherwise its digest.
 */
export function encodeSubscriptionId(operation: string, name: string): string {
  const made = BigInt(`0x${operation}`).toString(36).padStart(OPERATION_LENGTH, '0')
  return /^[\w-]{1,13}$/.test(name)
    ? `tg-${made}-${name}`
    : `tg-${made}_${hashSubscriptionName(name)}`
}

const OPERATION_LENGTH = 19

export interface SubscriptionIdParts {
  readonly operation: string | null
  readonly name: string | null
  readonly nameDigest: string | null
}

/**
 * Parses the id of a subscription that was created by billing. All parts are `null` for ids of
 * other origin.
 */
export function parseSubscriptionId(id: string): SubscriptionIdParts {
  const [, made = '', mark, text = ''] = /^tg-([0-9a-z]{19})([-_])([\w-]{1,13})$/.exec(id) ?? []
  if (mark === undefined) return { operation: null, name: null, nameDigest: null }
  const isName = mark === '-'
  return {
    operation: fromBase36(made),
    name: isName ? text : null,
    nameDigest: isName ? null : text,
  }
}

function fromBase36(text: string): string {
  let value = 0n
  for (const digit of text) value = value * 36n + BigInt(Number.parseInt(digit, 36))
  return value.toString(16).padStart(24, '0')
}
