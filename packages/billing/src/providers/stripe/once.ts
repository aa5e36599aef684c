import { createHash, randomUUID } from 'node:crypto'
import type Stripe from 'stripe'
import { ProviderUnavailable } from '../../core/errors/errors.ts'

/**
 * Creates an object at Stripe under an idempotency key. Stripe repeats its first response to a key
 * for a day, even a 500, which would block all retries. So after a 500, `find` looks for the object
 * (in a list, because searches lag behind). If the object exists, it is returned; if not, it is
 * created with a new key. If the lookup fails too, the outcome is unknown and the call throws.
 * Callers must hold a lock: two concurrent calls could create it twice.
 * @throws ProviderUnavailable if the lookup fails.
 */
export async function createIdempotently<T>(
  key: string,
  make: (options: Stripe.RequestOptions) => Promise<T>,
  find: () => Promise<T | null>,
): Promise<T> {
  const idempotencyKey = shorten(key)
  try {
    return await make({ idempotencyKey })
  } catch (error) {
    if (!isServerError(error)) throw error
    return (
      (await findOrThrowUnavailable(find, error)) ??
      make({ idempotencyKey: `${idempotencyKey}:${randomUUID()}` })
    )
  }
}

/**
 * Replaces a long key by its digest: Stripe accepts at most 255 characters, and a caller's key
 * alone may be that long.
 */
function shorten(key: string): string {
  return key.length <= 200 ? key : createHash('sha256').update(key).digest('hex')
}

async function findOrThrowUnavailable<T>(
  find: () => Promise<T | null>,
  cause: unknown,
): Promise<T | null> {
  try {
    return await find()
  } catch {
    throw new ProviderUnavailable(
      'Stripe failed, and could not be asked whether the request took effect: retry later',
      { provider: 'stripe', providerCode: null, cause },
    )
  }
}

/**
 * Whether Stripe itself responded with a 500, so that the request is finished. After a 502 or 504
 * of a proxy, the outcome is unknown.
 */
function isServerError(error: unknown): boolean {
  const { type, statusCode } = error as { readonly type?: unknown; readonly statusCode?: unknown }
  return type === 'StripeAPIError' && statusCode === 500
}
