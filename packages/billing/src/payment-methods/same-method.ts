import type { ProviderMethod } from '../gateways/contract/parts/pages/payment-methods.ts'

type Compared = Pick<
  ProviderMethod,
  'id' | 'kind' | 'brand' | 'lastFour' | 'email' | 'expires' | 'fingerprint'
>

/**
 * Whether two payment methods are the same card or account, such as one that was typed in twice. A renewed card, with the
 * same number and another month, is another one; so is whatever cannot be told apart from others.
 */
export function isSameMethod(a: Compared, b: Compared): boolean {
  if (a.id === b.id) return true
  if (a.kind !== b.kind || haveOtherEnds(a, b)) return false
  if (a.fingerprint && b.fingerprint) return a.fingerprint === b.fingerprint
  const isKnown = a.lastFour !== null || a.email !== null
  return (
    isKnown &&
    a.lastFour === b.lastFour &&
    a.email === b.email &&
    a.brand?.toLowerCase() === b.brand?.toLowerCase()
  )
}

/** A provider may not tell the month of a card that it has not kept yet. */
function haveOtherEnds({ expires: a }: Compared, { expires: b }: Compared): boolean {
  return a !== null && b !== null && (a.month !== b.month || a.year !== b.year)
}
