import assert from 'node:assert/strict'
import type { Gateway } from '../../gateways/contract/gateway.ts'
import type { WantedItem } from '../../gateways/contract/item.ts'
import type { Provider } from '../../gateways/contract/provider.ts'
import type { NewSubscription, ProviderSubscription } from '../../gateways/contract/subscription.ts'
import type { RawWebhook } from '../../gateways/contract/webhook.ts'

/** `describe` and `it` of whatever test runner you use. */
export interface GatewayContractRunner {
  /** Groups tests, as vitest, jest and node:test do. */
  describe(name: string, body: () => void): void
  /** One test. */
  it(name: string, body: () => Promise<void>): void
}

/** A provider's test account: empty, and with these things in it. */
export interface GatewayUnderTest {
  /** As an application would list it. */
  readonly provider: Provider
  /** Two plans of the same rhythm and currency; the second one costs more. */
  readonly plans: readonly [plan: string, dearer: string]
  /** Two prices that can be beside a plan, for a gateway with the part `items`. */
  readonly furtherPrices?: readonly [price: string, other: string]
  /** A price that is billed by usage, and what its events are called, for a gateway with the part `usage`. */
  readonly metered?: { readonly price: string; readonly meter: string }
  /** The currency of both, in lower case. */
  readonly currency: string
  /** Tokens of two cards that work. */
  readonly cards: readonly [card: string, other: string]
  /** The token of a card that is refused when it is given, or when it is charged. */
  readonly declinedCard: string
  /** Where there are codes: one that works, one that is over, and the coupon of both. */
  readonly promotionCodes?: {
    readonly works: string
    readonly isOver: string
    readonly coupon: string
  }
  /** Where there are disputes: somebody asks their bank for their newest charge back. Gives the dispute's id. */
  disputeNewestCharge?(customerId: string): Promise<string>
  /** The provider's clock. */
  now(): Date
  /** An event about this subscription, signed with the real time. */
  webhookAbout(subscriptionId: string): Promise<RawWebhook>
}

/** Gives an empty test account each time. */
export type CreateGateway = () => Promise<GatewayUnderTest>

/** Tests of one subject. */
export type ContractPart = (runner: GatewayContractRunner, create: CreateGateway) => void

/** A test account with its gateway, and what most tests begin with. */
export interface Account extends GatewayUnderTest {
  readonly gateway: Gateway
  /** A customer with the first card. */
  readonly customerId: string
  subscribe(more?: {
    readonly operation?: string
    readonly trialDays?: number
    readonly items?: readonly WantedItem[]
    /** How it begins, where the provider knows such terms. */
    readonly terms?: Partial<NewSubscription>
  }): Promise<ProviderSubscription>
  /** The subscription as it is now. */
  read(id: string): Promise<ProviderSubscription>
}

export async function openAccount(create: CreateGateway): Promise<Account> {
  const test = await create()
  const gateway = await test.provider.connect()
  const { id: customerId } = await gateway.createCustomer({
    owner: { type: 'user', id: 1 },
    details: { email: 'ada@example.com', name: 'Ada Lovelace' },
    operation: newOperation(),
  })
  await gateway.setCard(customerId, test.cards[0])
  return {
    ...test,
    gateway,
    customerId,
    subscribe: ({ operation = newOperation(), trialDays, items, terms = {} } = {}) =>
      gateway.createSubscription({
        customerId,
        plan: test.plans[0],
        name: 'main',
        quantity: 1,
        coupon: null,
        trialDays: trialDays ?? null,
        tax: 0,
        operation,
        ...(items ? { items } : {}),
        ...terms,
      }),
    async read(id) {
      const found = await gateway.findSubscription(id)
      assert.ok(found, `There is no subscription ${id}`)
      return found
    },
  }
}

let operations = 0

/** 24 letters and digits, as billing makes them. */
export function newOperation(): string {
  return (++operations).toString(16).padStart(24, 'c0')
}

/** The code of what `ask` throws. */
export async function codeOf(ask: () => Promise<unknown>): Promise<string> {
  try {
    await ask()
  } catch (error) {
    return String((error as { code?: unknown }).code)
  }
  return 'nothing was thrown'
}
