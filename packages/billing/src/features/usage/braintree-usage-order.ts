/**
 * Returns the order id of a sale for usage. It serves to find the sale again, and names its
 * subscription.
 */
export function orderOfUsage(subscription: string, key: string): string {
  return `usage:${subscription}:${key}`
}

interface Ordered {
  readonly orderId?: string | null | undefined
}

/** Reads the subscription whose usage a sale is for. `null` for any other sale. */
export function subscriptionOfUsage({ orderId }: Ordered): string | null {
  return /^usage:([^:]+):/.exec(orderId ?? '')?.[1] ?? null
}

/**
 * Reads the idempotency key under which a sale for usage was charged. `null` for any other sale.
 */
export function keyOfUsage({ orderId }: Ordered): string | null {
  return /^usage:[^:]+:(.+)$/.exec(orderId ?? '')?.[1] ?? null
}
