import { InvalidArgument } from '../../core/errors/errors.ts'
import type { MetadataValues } from '../../providers/subscription.ts'

/** Stripe stores 50 keys per object. The rest is reserved for the keys below. */
const MAX_KEYS = 30
const MAX_KEY_LENGTH = 40
const MAX_VALUE_LENGTH = 500

/** Keys in which billing stores what Stripe does not record about a subscription. */
const OWN_KEYS = new Set([
  'name',
  'operation',
  'main',
  'coupon',
  'terms',
  'taxed_by',
  'given_back',
  'discounts_changed',
])
const OWN_PREFIX = 'tollgate_'

/**
 * Checks the application's metadata, and sorts it by key, so that the same data in another order
 * results in the same request.
 */
export function requireMetadata(metadataValues: MetadataValues): MetadataValues {
  const entries = Object.entries(metadataValues)
  if (entries.length > MAX_KEYS) {
    throw new InvalidArgument(`Metadata of ${entries.length} keys; expected at most ${MAX_KEYS}`)
  }
  for (const [key, value] of entries) {
    if (key === '' || key.length > MAX_KEY_LENGTH || /[[\]]/.test(key)) {
      throw new InvalidArgument(
        `The metadata key '${key}' should have 1 to ${MAX_KEY_LENGTH} characters and no square brackets`,
      )
    }
    if (isOwn(key)) throw new InvalidArgument(`The metadata key '${key}' is used by billing itself`)
    if (typeof value !== 'string' || value === '' || value.length > MAX_VALUE_LENGTH) {
      throw new InvalidArgument(
        `The metadata '${key}' should be text of 1 to ${MAX_VALUE_LENGTH} characters`,
      )
    }
  }
  return Object.fromEntries(entries.sort(([a], [b]) => (a < b ? -1 : 1)))
}

/** Removes the metadata keys that billing adds for itself. */
export function withoutReservedKeys(all: MetadataValues): MetadataValues {
  return Object.fromEntries(Object.entries(all).filter(([key]) => !isOwn(key)))
}

function isOwn(key: string): boolean {
  return OWN_KEYS.has(key) || key.startsWith(OWN_PREFIX)
}
