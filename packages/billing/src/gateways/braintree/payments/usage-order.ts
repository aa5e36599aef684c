/** The order's id of a sale for usage: it is found again by it, and says what it belongs to. */
export function orderOfUsage(subscription: string, key: string): string {
  return `usage:${subscription}:${key}`
}

interface Ordered {
  readonly orderId?: string | null | undefined
}

/** The subscription whose usage a sale is for; null for any other sale. */
export function subscriptionOfUsage({ orderId }: Ordered): string | null {
  return /^usage:([^:]+):/.exec(orderId ?? '')?.[1] ?? null
}

/** What it was charged under; null for any other sale. */
export function keyOfUsage({ orderId }: Ordered): string | null {
  return /^usage:[^:]+:(.+)$/.exec(orderId ?? '')?.[1] ?? null
}
