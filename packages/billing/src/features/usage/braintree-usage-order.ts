/**
 * Returns the `orderId` of a Braintree sale that charges for usage. It contains the subscription
 * and the idempotency key, so that the sale can be found again.
 */
export function buildUsageOrderId(subscription: string, key: string): string {
  return `usage:${subscription}:${key}`
}

interface SaleWithOrderId {
  readonly orderId?: string | null | undefined
}

/**
 * Reads the id of the subscription whose usage a Braintree sale charges. `null` if the sale is not
 * for usage.
 */
export function findUsageSubscriptionId({ orderId }: SaleWithOrderId): string | null {
  return /^usage:([^:]+):/.exec(orderId ?? '')?.[1] ?? null
}

/**
 * Reads the idempotency key of a Braintree sale that charges for usage. `null` if the sale is not
 * for usage.
 */
export function findUsageIdempotencyKey({ orderId }: SaleWithOrderId): string | null {
  return /^usage:[^:]+:(.+)$/.exec(orderId ?? '')?.[1] ?? null
}
