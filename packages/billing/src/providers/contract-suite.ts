import assert from 'node:assert/strict'
import type { ProviderCustomer } from './customer.ts'
import type { Gateway } from './gateway.ts'
import type { Capability, GatewayParts } from './gateway-parts.ts'
import type { RequestedItem } from './item.ts'
import type { Provider } from './provider.ts'
import type { NewSubscription, ProviderSubscription } from './subscription.ts'
import type { RawWebhook } from './webhook.ts'

/** `describe` and `it` of your test runner. */
export interface GatewayContractRunner {
  /** Groups tests, as in vitest, jest and node:test. */
  describe(name: string, body: () => void): void
  /** Declares one test. */
  it(name: string, body: () => Promise<void>): void
}

/**
 * An empty test account of a provider, and the prices and cards in it that the contract tests use.
 */
export interface GatewayUnderTest {
  /** The provider as an application would configure it. */
  readonly provider: Provider
  /** Two plans with the same interval and currency. The second one costs more. */
  readonly prices: readonly [price: string, dearer: string]
  /** Two additional prices that can be combined with the plans. Requires the capability `items`. */
  readonly furtherPrices?: readonly [price: string, other: string]
  /** A metered price and the name of its meter. Requires the capability `usage`. */
  readonly metered?: { readonly price: string; readonly meter: string }
  /** Currency of the plans, in lower case. */
  readonly currency: string
  /** Tokens of two working cards. */
  readonly cards: readonly [card: string, other: string]
  /** Token of a card that is declined when it is stored or charged. */
  readonly declinedCard: string
  /**
   * One valid and one expired promotion code, and the coupon of both. Requires the capability
   * `promotionCodes`.
   */
  readonly promotionCodes?: {
    readonly works: string
    readonly isOver: string
    readonly coupon: string
  }
  /**
   * Opens a dispute about the customer's newest charge, and returns its id. Requires the capability
   * `disputes`.
   */
  disputeNewestCharge?(customerId: string): Promise<string>
  /** Current time on the provider's clock. */
  now(): Date
  /** Makes a webhook about this subscription, signed with the real time. */
  webhookAbout(subscriptionId: string): Promise<RawWebhook>
}

/** Creates a new, empty test account for each call. */
export type CreateGateway = () => Promise<GatewayUnderTest>

/**
 * Declares the contract tests of one subject, such as invoices, for the gateway that `create`
 * makes.
 */
export type ContractPart = (runner: GatewayContractRunner, create: CreateGateway) => void

/**
 * A provider's test account, with its gateway and the objects that most contract tests start with.
 */
export interface ContractTestAccount extends GatewayUnderTest {
  readonly gateway: Gateway
  /** Id of a customer with the first card. */
  readonly customerId: string
  subscribe(more?: {
    readonly operation?: string
    readonly trialDays?: number
    readonly items?: readonly RequestedItem[]
    /** Further terms, if the provider supports them. */
    readonly terms?: Partial<NewSubscription>
  }): Promise<ProviderSubscription>
  /** Reads the current subscription. Fails the test if it does not exist. */
  read(id: string): Promise<ProviderSubscription>
}

export async function openContractTestAccount(create: CreateGateway): Promise<ContractTestAccount> {
  const test = await create()
  const gateway = await test.provider.connect()
  const { id: customerId } = await gateway.createCustomer({
    owner: { type: 'user', id: 1 },
    details: { email: 'ada@example.com', name: 'Ada Lovelace' },
    operation: createOperationId(),
  })
  await gateway.setCard(customerId, test.cards[0])
  return {
    ...test,
    gateway,
    customerId,
    subscribe: ({ operation = createOperationId(), trialDays, items, terms = {} } = {}) =>
      gateway.createSubscription({
        customerId,
        price: test.prices[0],
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

/**
 * Returns a function that declares tests of a capability. If the gateway lacks it, or `prepare`
 * returns undefined, the test passes without running its body. `prepare` creates what the tests
 * start with.
 */
export function createCapabilityTests<Name extends Capability, More = unknown>(
  name: Name,
  where: string,
  { it }: Pick<GatewayContractRunner, 'it'>,
  create: CreateGateway,
  prepare?: (part: GatewayParts[Name], account: ContractTestAccount) => Promise<More | undefined>,
): (
  title: string,
  body: (part: GatewayParts[Name], account: ContractTestAccount, more: More) => Promise<void>,
) => void {
  return (title, body) =>
    it(`${title}, ${where}`, async () => {
      const account = await openContractTestAccount(create)
      const part = account.gateway[name] as GatewayParts[Name] | undefined
      if (!part) return
      const more = await prepare?.(part, account)
      if (!prepare || more !== undefined) await body(part, account, more as More)
    })
}

/** Creates the customer of another user, without a card. */
export function createAnotherCustomer({
  gateway,
}: Pick<ContractTestAccount, 'gateway'>): Promise<ProviderCustomer> {
  const details = { email: 'bob@example.com', name: 'Bob' }
  return gateway.createCustomer({
    owner: { type: 'user', id: 2 },
    details,
    operation: createOperationId(),
  })
}

/** Returns a time some days from now, rounded down to the second. */
export function daysFromNow(account: Pick<GatewayUnderTest, 'now'>, days: number): Date {
  return new Date((Math.floor(account.now().getTime() / 1000) + days * 86_400) * 1000)
}

let operations = 0

/** Returns a new operation id in billing's format: 24 letters and digits. */
export function createOperationId(): string {
  return (++operations).toString(16).padStart(24, 'c0')
}

/** Runs `ask`, and returns the `code` of the error that it throws. */
export async function catchErrorCode(ask: () => Promise<unknown>): Promise<string> {
  try {
    await ask()
  } catch (error) {
    return String((error as { code?: unknown }).code)
  }
  return 'nothing was thrown'
}
