import type { Money } from '@tollgate/billing'

export interface Customer {
  readonly id: string
  readonly operation: string
  readonly email: string | null
  readonly name: string | null
  card: string | null
}

export interface Subscription {
  readonly id: string
  readonly customerId: string
  readonly operation: string
  readonly name: string
  readonly createdAt: Date
  readonly trialEndsAt: Date | null
  readonly paidUntil: Date
  price: string
  quantity: number
  cancelsAt: Date | null
  endedAt: Date | null
}

export interface Sale {
  readonly id: string
  readonly customerId: string
  readonly key: string | null
  readonly description: string
  readonly amount: Money
  readonly date: Date
  readonly subscriptionId: string | null
}

/** Everything that a provider would store on its own servers. Independent of Tollgate. */
export class Ledger {
  readonly customers = new Map<string, Customer>()
  readonly subscriptions = new Map<string, Subscription>()
  readonly sales: Sale[] = []
  #ids = 0

  nextId(prefix: string): string {
    this.#ids += 1
    return `${prefix}_${this.#ids}`
  }

  subscriptionsOf(customerId: string): Subscription[] {
    return [...this.subscriptions.values()].filter((each) => each.customerId === customerId)
  }
}
